"""Quotient: y = self / other, truncated or rounded down where `rounding_mode` is "trunc" or "floor".

Any rank, any strides.  Both operands are converted to the dtype of the result first, by PyTorch's promotion.  Without a
mode integers and booleans give float32; 1 / 0 is inf and 0 / 0 NaN.  "trunc" truncates the rounded quotient of floats;
"floor" is `floor_divide`: the largest whole number that is not above the exact quotient, NaN for an infinite self
unless other is 0.  Integers keep their dtype in both modes and are not divided by 0.  Subnormal divisors and special
values of complex numbers are outside of the contract.

Overloads: div.Tensor, div.Scalar, div.Tensor_mode and div.Scalar_mode (tested), and their .out forms.
"""

from __future__ import annotations

from engine.model import Case, Category, Cost, DType, ProblemDefinition, Tier, Tolerance
from problems.kit import F32, FLOATS, INTEGERS, WHOLE, Arguments, cancelling, rounded, torch
from problems.kit.pointwise.binary import (
    binary_arguments,
    binary_cases,
    binary_cost,
    binary_over,
    binary_result,
    binary_values,
    without_zero,
)
from problems.kit.pointwise.division import divided
from problems.kit.promotion import floating

CASES = (
    *binary_cases(dtype=[*FLOATS, DType.FLOAT64, *WHOLE, DType.COMPLEX64], scalars=[3, -2.5], mode="none"),
    *binary_over(Tier.FULL, "{shape} {dtype} {mode}", shape=(40, 33), other=(40, 33), mode=["trunc", "floor"],
                 dtype=[F32, *INTEGERS]),
    *binary_over(Tier.FULL, "{shape} {dtype} {mode} {values}", shape=(16, 33), other=(16, 33), values="special",
                 mode=["trunc", "floor"], dtype=F32),
    *binary_over(Tier.FULL, "{shape} {dtype} {mode} number {scalar}", shape=(40, 33), other=(), scalar=[3, -2.5],
                 mode=["trunc", "floor"], dtype=[F32, DType.INT32]),
)  # fmt: skip

_EDGES = (0.5, 7.0, -7.0, 2.0, -2.0, 6.0)


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: `shape`, other: `other`, which broadcast, or a number; integers are divided by neither 0 nor -1."""
    left, right = binary_values(case, rng, edges=_EDGES)
    mode = case.word("mode")
    if mode != "none":
        right = without_zero(right)
    return *binary_arguments(case, left, right), None if mode == "none" else mode


def reference(x: torch.Tensor, other: torch.Tensor | float, rounding_mode: str | None = None) -> torch.Tensor:
    """The broadcast shape, from the quotient in float64, or exact in 64-bit integers."""
    return divided(x, other, rounding_mode)


def eager(x: torch.Tensor, other: torch.Tensor | float, rounding_mode: str | None = None) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.div(x, other, rounding_mode=rounding_mode)


def tolerance(case: Case) -> Tolerance:
    """One rounding; the parts of a complex quotient are differences."""
    return cancelling(result) if (result := _result(case)).is_complex else rounded(result)


def cost(case: Case) -> Cost:
    """One operation per element."""
    return binary_cost(case, operations=1, result=_result(case))


def _result(case: Case) -> DType:
    """Integers keep their dtype in the rounding modes."""
    result = binary_result(case)
    return floating(result) if case.word("mode") == "none" else result


PROBLEM = ProblemDefinition(
    name="aten::div",
    entry="div",
    signature="div(self: Tensor, other: Tensor | float, rounding_mode: str | None = None) -> Tensor",
    summary="True division, plus rounding modes",
    category=Category.POINTWISE_BINARY,
    second_oracle="numpy.divide, in double precision",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
)
