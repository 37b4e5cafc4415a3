"""Quotient in place: self = self / other, truncated or rounded down where `rounding_mode` is "trunc" or "floor".

Any rank, any strides of self that do not overlap, any strides of other, which broadcasts to self.  The quotient is
computed in the dtype of promotion and cast to that of self.  Without a mode self is a float or complex tensor; integers
take "trunc" and "floor" with integers that are not 0.  "trunc" truncates the rounded quotient of floats; "floor" is
`floor_divide`: the largest whole number that is not above the exact quotient, NaN for an infinite self.  1 / 0 is inf
and 0 / 0 NaN.  Subnormal divisors and special values of complex numbers are outside of the contract.  Returns self.

Overloads: div_.Tensor, div_.Scalar, div_.Tensor_mode and div_.Scalar_mode (tested).
"""

from __future__ import annotations

from engine.model import Case, Category, Cost, DType, ProblemDefinition, ReturnedMemory, Tier, Tolerance
from problems.kit import F32, FLOATS, INTEGERS, Arguments, cancelling, rounded, torch
from problems.kit.pointwise.binary import (
    binary_arguments,
    binary_cost,
    binary_over,
    binary_values,
    inplace_cases,
    without_zero,
)
from problems.kit.pointwise.division import divided

CASES = (
    *inplace_cases(dtype=[*FLOATS, DType.FLOAT64, DType.COMPLEX64], scalars=[3, -2.5], mode="none"),
    *binary_over(Tier.FULL, "{shape} {dtype} {mode}", shape=(40, 33), other=(40, 33), mode=["trunc", "floor"],
                 dtype=[F32, *INTEGERS]),
    *binary_over(Tier.FULL, "{shape} {dtype} {mode} {values}", shape=(16, 33), other=(16, 33), values="special",
                 mode=["trunc", "floor"], dtype=F32),
    *binary_over(Tier.FULL, "{shape} {dtype} {mode} number {scalar}", shape=(40, 33), other=(), scalar=3,
                 mode=["trunc", "floor"], dtype=[F32, DType.INT32]),
)  # fmt: skip

_EDGES = (0.5, 7.0, -7.0, 2.0, -2.0, 6.0)


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: `shape`, other: `other`, which broadcasts to it, or a number; integers are not divided by 0, nor by -1."""
    left, right = binary_values(case, rng, edges=_EDGES)
    mode = case.word("mode")
    arguments = binary_arguments(case, left, right if mode == "none" else without_zero(right))
    return *arguments, None if mode == "none" else mode


def reference(
    x: torch.Tensor, other: torch.Tensor | float, rounding_mode: str | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """self twice: the returned and the written tensor; computed in float64 or 64-bit integers."""
    answer = divided(x, other, rounding_mode).to(x.dtype)
    return answer, answer


def eager(x: torch.Tensor, other: torch.Tensor | float, rounding_mode: str | None = None) -> torch.Tensor:
    """PyTorch's operator."""
    return x.div_(other, rounding_mode=rounding_mode)


def tolerance(case: Case) -> Tolerance:
    """One rounding; the parts of a complex quotient are differences."""
    return cancelling(case.dtype) if case.dtype.is_complex else rounded(case.dtype)


def cost(case: Case) -> Cost:
    """1 operation per element."""
    return binary_cost(case, operations=1, result=case.dtype)


PROBLEM = ProblemDefinition(
    name="aten::div_",
    entry="div_",
    signature="div_(self: Tensor, other: Tensor | float, rounding_mode: str | None = None) -> Tensor",
    summary="In-place division, plus rounding modes",
    category=Category.POINTWISE_INPLACE,
    second_oracle="PyTorch's div_, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    mutates=("self",),
    returned_memory=ReturnedMemory.WRITTEN,
)
