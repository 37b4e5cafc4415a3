"""Reversed difference: y = other - alpha * self, with broadcasting.

Any rank, any strides; floats, integers and complex numbers, not bool.  Both operands are converted to the dtype of the
result first, by PyTorch's promotion.  Integers wrap around and take a whole alpha.  IEEE arithmetic, also for alpha =
0: 0 * NaN is NaN, inf - inf is NaN.  A product with alpha that overflows, which a fused multiply-add would not round,
and special values of complex numbers are outside of the contract.

Overloads: rsub.Tensor and rsub.Scalar (tested), rsub.Tensor_out and rsub.Scalar_out.
"""

from __future__ import annotations

from engine.model import Case, Category, Cost, DType, ProblemDefinition, Tier, Tolerance
from problems.kit import F32, FLOATS, INTEGERS, Arguments, cancelling, torch
from problems.kit.pointwise.binary import (
    binary_arguments,
    binary_cases,
    binary_cost,
    binary_over,
    binary_result,
    binary_values,
    widened,
)

CASES = (
    *binary_cases(dtype=[*FLOATS, DType.FLOAT64, *INTEGERS, DType.COMPLEX64], scalars=[3, -2.5], alpha=1),
    *binary_over(Tier.FULL, "{shape} {dtype} alpha {alpha}", shape=(40, 33), other=(33,), alpha=[0.5, -3, 100.125],
                 dtype=FLOATS),
    *binary_over(Tier.FULL, "{shape} {dtype} alpha {alpha} {values}", shape=(16, 33), other=(16, 33), alpha=[0, 0.5],
                 values="special", dtype=F32),
    *binary_over(Tier.FULL, "{shape} {dtype} alpha {alpha}", shape=(40, 33), other=(33,), alpha=-3, dtype=INTEGERS),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: `shape`, other: `other`, which broadcast, or a number; alpha."""
    left, right = binary_values(case, rng, draw=_even)
    alpha = case.number("alpha")
    return *binary_arguments(case, left, right), int(alpha) if alpha.is_integer() else alpha


def reference(x: torch.Tensor, other: torch.Tensor | float, alpha: float = 1) -> torch.Tensor:
    """The broadcast shape, computed in float64 or 64-bit integers."""
    left, right, kind = widened(x, other)
    return (right - alpha * left).to(kind)


def eager(x: torch.Tensor, other: torch.Tensor | float, alpha: float = 1) -> torch.Tensor:
    """The library's own."""
    return torch.rsub(x, other, alpha=alpha)


def tolerance(case: Case) -> Tolerance:
    """The product may be rounded before the difference."""
    return cancelling(binary_result(case))


def cost(case: Case) -> Cost:
    """2 operations an element."""
    return binary_cost(case, operations=2)


def _even(x: torch.Tensor) -> torch.Tensor:
    """Within two powers of two: the rounding of one operand is small beside a typical result."""
    return x.clamp(-4, 4)


PROBLEM = ProblemDefinition(
    name="aten::rsub",
    entry="rsub",
    signature="rsub(self: Tensor, other: Tensor | float, alpha: float = 1) -> Tensor",
    summary="other - alpha*self",
    category=Category.POINTWISE_BINARY,
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
)
