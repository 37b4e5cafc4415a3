"""Cosine: y = cos(x), x in radians.

Any rank, any strides.  Integers and booleans give float32.  Infinities and NaN give NaN.  The tolerance holds for
magnitudes up to 40,000; larger finite numbers and special values of complex numbers are outside of the contract.

Overloads: cos (tested), cos.out and those of Python scalars, which compute the same.
"""

from __future__ import annotations

from engine.model import Case, Category, Cost, DType, ProblemDefinition, Tolerance
from problems.kit import FLOATS, WHOLE, Arguments, rounded, torch
from problems.kit.pointwise.unary import NON_FINITE, in_double, unary_cases, unary_cost, unary_values
from problems.kit.promotion import floating

CASES = unary_cases(dtype=[*FLOATS, DType.FLOAT64, *WHOLE, DType.COMPLEX64])

_EDGES = (1.5703125, 3.140625, 100.0, 1000.0, -30000.0, 40000.0)


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: any shape, mixed magnitudes; integers from -40 to 40."""
    return (unary_values(case, rng, edges=_EDGES, special=NON_FINITE, low=-40, high=41),)


def reference(x: torch.Tensor) -> torch.Tensor:
    """The shape of x, computed in float64 or complex128."""
    return in_double(torch.cos, x)


def eager(x: torch.Tensor) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.cos(x)


def tolerance(case: Case) -> Tolerance:
    """One rounding of a float32 result."""
    return rounded(floating(case.dtype))


def cost(case: Case) -> Cost:
    """12 operations per element."""
    return unary_cost(case, operations=12, result=floating(case.dtype))


PROBLEM = ProblemDefinition(
    name="aten::cos",
    entry="cos",
    signature="cos(self: Tensor) -> Tensor",
    summary="Cosine",
    category=Category.POINTWISE_UNARY,
    second_oracle="mpmath with 40 digits",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
)
