"""Difference: y = self - alpha * other, with broadcasting.

Any rank, any strides; floats, integers and complex numbers, not bool.  Both operands are converted to the dtype of the
result first, by PyTorch's promotion.  Integers wrap around and take a whole alpha.  IEEE arithmetic, also for alpha =
0: 0 * NaN is NaN, inf - inf is NaN.  A product with alpha that overflows, which a fused multiply-add would not round,
and special values of complex numbers are outside of the contract.

Overloads: sub.Tensor and sub.Scalar (tested), sub.out and sub.Scalar_out.
"""

from __future__ import annotations

from engine.model import Category, DType, ProblemDefinition
from problems.kit import FLOATS, INTEGERS, torch
from problems.kit.pointwise.binary import widened
from problems.kit.pointwise.differences import (
    difference_cases,
    difference_cost,
    difference_inputs,
    difference_tolerance,
)

CASES = difference_cases(dtype=[*FLOATS, DType.FLOAT64, *INTEGERS, DType.COMPLEX64])


def reference(x: torch.Tensor, other: torch.Tensor | float, alpha: float = 1) -> torch.Tensor:
    """The broadcast shape, computed in float64 or 64-bit integers."""
    left, right, kind = widened(x, other)
    return (left - alpha * right).to(kind)


def eager(x: torch.Tensor, other: torch.Tensor | float, alpha: float = 1) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.sub(x, other, alpha=alpha)


PROBLEM = ProblemDefinition(
    name="aten::sub",
    entry="sub",
    signature="sub(self: Tensor, other: Tensor | float, alpha: float = 1) -> Tensor",
    summary="self - alpha*other",
    category=Category.POINTWISE_BINARY,
    second_oracle="numpy.subtract, in double precision",
    cases=CASES,
    make_inputs=difference_inputs,
    reference=reference,
    eager=eager,
    tolerance=difference_tolerance,
    cost=difference_cost,
)
