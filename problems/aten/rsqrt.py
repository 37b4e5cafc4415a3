"""Reciprocal square root: y = 1 / sqrt(x).

Any rank, any strides.  Integers and booleans give float32.  0.0 gives inf and -0.0 -inf, inf gives 0, negative values
and NaN give NaN.  Subnormal values are outside of the contract: a device may flush them to 0.  Complex values take the
principal branch; their special values are outside of the contract.

Overloads: rsqrt (tested) and rsqrt.out.
"""

from __future__ import annotations

from engine.model import Case, Category, Cost, DType, ProblemDefinition, Tolerance
from problems.kit import FLOATS, WHOLE, Arguments, rounded, torch
from problems.kit.pointwise.unary import SUBNORMAL_FREE, in_double, unary_cases, unary_cost, unary_values
from problems.kit.promotion import floating

CASES = unary_cases(dtype=[*FLOATS, DType.FLOAT64, *WHOLE, DType.COMPLEX64])

_EDGES = (1.0, 4.0, 0.25, 0.0, -1.0)


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: any shape, positive over 24 powers of two; integers from 1 to 1999."""
    return (unary_values(case, rng, draw=_positive, edges=_EDGES, special=SUBNORMAL_FREE, low=1, high=2000),)


def reference(x: torch.Tensor) -> torch.Tensor:
    """The shape of x, computed in float64 or complex128."""
    return in_double(torch.rsqrt, x)


def eager(x: torch.Tensor) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.rsqrt(x)


def tolerance(case: Case) -> Tolerance:
    """PyTorch may round twice in half precision: the square root and the quotient."""
    return rounded(floating(case.dtype), roundings=3)


def cost(case: Case) -> Cost:
    """2 operations per element."""
    return unary_cost(case, operations=2, result=floating(case.dtype))


def _positive(x: torch.Tensor) -> torch.Tensor:
    """Above 0, over 24 powers of two."""
    return torch.exp2(x.clamp(-12, 12))


PROBLEM = ProblemDefinition(
    name="aten::rsqrt",
    entry="rsqrt",
    signature="rsqrt(self: Tensor) -> Tensor",
    summary="1/sqrt(x)",
    category=Category.POINTWISE_UNARY,
    second_oracle="mpmath with 40 digits",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
)
