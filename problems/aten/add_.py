"""Addition in place: self = self + alpha * other, with broadcasting of other.

Any rank, any strides of self that do not overlap, any strides of other.  The sum is computed in the dtype of promotion
and cast to that of self, which must be of the same category: float16 takes a float32 other, integers take no floats.
Integers wrap around.  IEEE arithmetic, also for alpha = 0.  A product with alpha that overflows, which a fused
multiply-add would not round, and special values of complex numbers are outside of the contract.  Returns self.

Overloads: add_.Tensor and add_.Scalar (tested); add_.t is for lists.
"""

from __future__ import annotations

from engine.model import Case, Category, Cost, DType, ProblemDefinition, ReturnedMemory, Tier, Tolerance
from problems.kit import F32, FLOATS, INTEGERS, Arguments, cancelling, torch
from problems.kit.pointwise.binary import (
    binary_arguments,
    binary_cost,
    binary_over,
    binary_values,
    inplace_cases,
    widened,
)

CASES = (
    *inplace_cases(dtype=[*FLOATS, DType.FLOAT64, *INTEGERS, DType.COMPLEX64], scalars=[3, -2.5], alpha=1),
    *binary_over(Tier.FULL, "{shape} {dtype} alpha {alpha}", shape=(40, 33), other=(33,), alpha=[0.5, -3, 100.125],
                 dtype=FLOATS),
    *binary_over(Tier.FULL, "{shape} {dtype} alpha {alpha} {values}", shape=(16, 33), other=(16, 33), alpha=[0, 0.5],
                 values="special", dtype=F32),
    *binary_over(Tier.FULL, "{shape} {dtype} alpha {alpha}", shape=(40, 33), other=(33,), alpha=-16777217,
                 dtype=[DType.INT32, DType.INT64]),
    *binary_over(Tier.FULL, "{shape} {dtype} alpha {alpha}", shape=(40, 33), other=(33,), alpha=-3,
                 dtype=[DType.INT16, DType.INT8, DType.UINT8]),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: `shape`, other: `other`, which broadcasts to it, or a number; alpha."""
    left, right = binary_values(case, rng, draw=_even)
    alpha = case.number("alpha")
    return *binary_arguments(case, left, right), int(alpha) if alpha.is_integer() else alpha


def reference(x: torch.Tensor, other: torch.Tensor | float, alpha: float = 1) -> tuple[torch.Tensor, torch.Tensor]:
    """self twice: the returned and the written tensor; computed in float64 or 64-bit integers."""
    left, right, kind = widened(x, other)
    answer = (left + alpha * right).to(kind).to(x.dtype)
    return answer, answer


def eager(x: torch.Tensor, other: torch.Tensor | float, alpha: float = 1) -> torch.Tensor:
    """PyTorch's operator."""
    return x.add_(other, alpha=alpha)


def tolerance(case: Case) -> Tolerance:
    """The product may be rounded before the sum."""
    return cancelling(case.dtype)


def cost(case: Case) -> Cost:
    """2 operations per element."""
    return binary_cost(case, operations=2, result=case.dtype)


def _even(x: torch.Tensor) -> torch.Tensor:
    """Magnitudes within two powers of two, so the rounding error of one operand is small beside a typical result."""
    return x.clamp(-4, 4)


PROBLEM = ProblemDefinition(
    name="aten::add_",
    entry="add_",
    signature="add_(self: Tensor, other: Tensor | float, alpha: float = 1) -> Tensor",
    summary="In-place self += alpha*other",
    category=Category.POINTWISE_INPLACE,
    second_oracle="PyTorch's add_, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    mutates=("self",),
    returned_memory=ReturnedMemory.WRITTEN,
)
