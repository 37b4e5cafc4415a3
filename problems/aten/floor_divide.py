"""Floor division: y = the largest whole number that is not above self / other.

Any rank, any strides.  Both operands are converted to the dtype of the result first, by PyTorch's promotion.  The exact
quotient is rounded down, not the rounded one: 6 / 0.1 is 59 in float32.  Floats: a divisor of 0 gives the quotient, inf
or NaN, an infinite self gives NaN, and a finite number other than 0 by an infinity of the other sign gives -1, as
Python's // does.  Integers round down for both signs, -7 by 2 is -4, and are not divided by 0.  Subnormal divisors are
outside of the contract.

Overloads: floor_divide and floor_divide.Scalar (tested), and their .out forms.
"""

from __future__ import annotations

from engine.model import Case, Category, Cost, DType, ProblemDefinition, Tolerance
from problems.kit import FLOATS, INTEGERS, Arguments, rounded, torch
from problems.kit.pointwise.binary import (
    binary_arguments,
    binary_cases,
    binary_cost,
    binary_result,
    binary_values,
    without_zero,
)
from problems.kit.pointwise.division import divided

CASES = binary_cases(dtype=[*FLOATS, DType.FLOAT64, *INTEGERS], scalars=[3, -2.5])

_EDGES = (0.5, 7.0, -7.0, 2.0, -2.0, 6.0)


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: `shape`, other: `other`, which broadcast, or a number; integers are divided by neither 0 nor -1."""
    left, right = binary_values(case, rng, edges=_EDGES)
    return binary_arguments(case, left, without_zero(right))


def reference(x: torch.Tensor, other: torch.Tensor | float) -> torch.Tensor:
    """The broadcast shape; exact in float64 or 64-bit integers."""
    return divided(x, other, "floor")


def eager(x: torch.Tensor, other: torch.Tensor | float) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.floor_divide(x, other)


def tolerance(case: Case) -> Tolerance:
    """Remainder, difference, quotient and answer may each be rounded to the dtype."""
    return rounded(binary_result(case), roundings=4)


def cost(case: Case) -> Cost:
    """4 operations per element."""
    return binary_cost(case, operations=4)


PROBLEM = ProblemDefinition(
    name="aten::floor_divide",
    entry="floor_divide",
    signature="floor_divide(self: Tensor, other: Tensor | float) -> Tensor",
    summary="Floor division of floats and integers",
    category=Category.POINTWISE_BINARY,
    second_oracle="PyTorch's floor_divide, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    cannot_reject={
        "single_arithmetic": "close numbers have one quotient once it is rounded down",
    },
)
