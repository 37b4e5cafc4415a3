"""Logarithm to base 10: y = ln(x) / ln(10).

Any rank, any strides.  Integers and booleans give float32.  Both zeros give -inf, negative values and NaN give NaN, inf
stays inf.  Subnormal values are outside of the contract: a device may flush them to 0.  Complex values take the
principal branch; their special values are outside of the contract.

Overloads: log10 (tested), log10.out and those of Python scalars, which compute the same.
"""

from __future__ import annotations

from engine.model import Case, Category, Cost, DType, ProblemDefinition, Tolerance
from problems.kit import FLOATS, WHOLE, Arguments, rounded, torch
from problems.kit.pointwise.unary import SUBNORMAL_FREE, in_double, unary_cases, unary_cost, unary_values
from problems.kit.promotion import floating

CASES = unary_cases(dtype=[*FLOATS, DType.FLOAT64, *WHOLE, DType.COMPLEX64])

_EDGES = (1.0, 10.0, 100.0, 1000.0, 0.0009765625, 0.0, 1.0078125)


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: any shape, positive over 24 powers of two; integers from 0 to 1999."""
    return (unary_values(case, rng, draw=_positive, edges=_EDGES, special=SUBNORMAL_FREE, low=0, high=2000),)


def reference(x: torch.Tensor) -> torch.Tensor:
    """The shape of x, computed in float64 or complex128."""
    return in_double(torch.log10, x)


def eager(x: torch.Tensor) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.log10(x)


def tolerance(case: Case) -> Tolerance:
    """One rounding of a float32 result."""
    return rounded(floating(case.dtype))


def cost(case: Case) -> Cost:
    """9 operations per element."""
    return unary_cost(case, operations=9, result=floating(case.dtype))


def _positive(x: torch.Tensor) -> torch.Tensor:
    """Above 0, over 24 powers of two."""
    return torch.exp2(x.clamp(-12, 12))


PROBLEM = ProblemDefinition(
    name="aten::log10",
    entry="log10",
    signature="log10(self: Tensor) -> Tensor",
    summary="Logarithm to base 10",
    category=Category.POINTWISE_UNARY,
    second_oracle="mpmath with 40 digits",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
)
