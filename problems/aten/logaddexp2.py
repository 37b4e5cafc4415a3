"""Logarithm of a sum of powers: y = log2(2^self + 2^other).

Any rank, any strides; floats.  Both operands are converted to the dtype of the result first, by PyTorch's promotion.
Intermediate results do not overflow, also for the largest numbers.  Two infinities of one sign give that infinity, inf
and anything but NaN gives inf, NaN gives NaN.

Overloads: logaddexp2 (tested) and logaddexp2.out.
"""

from __future__ import annotations

import math

from engine.model import CalledCase, Case, Category, Cost, DType, OutputMatch, ProblemDefinition, Tolerance
from problems.kit import FLOATS, Arguments, rounded, torch
from problems.kit.pointwise.binary import (
    binary_arguments,
    binary_cases,
    binary_cost,
    binary_result,
    binary_values,
    widened,
)

CASES = binary_cases(dtype=[*FLOATS, DType.FLOAT64])

_EDGES = (200.0, -200.0, 0.5)


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: `shape`, other: `other`, which broadcast."""
    left, right = binary_values(case, rng, edges=_EDGES)
    return binary_arguments(case, left, right)


def reference(x: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """The broadcast shape, computed in float64."""
    left, right, kind = widened(x, other)
    high, low = torch.maximum(left, right), torch.minimum(left, right)
    below = torch.where(high.isinf(), 0.0, torch.log1p(torch.exp2(low - high)) / math.log(2))
    return (high + below).to(kind)


def eager(x: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.logaddexp2(x, other)


def tolerance(case: Case) -> Tolerance:
    """One rounding of a float32 result."""
    return rounded(binary_result(case))


def compare(called: CalledCase) -> tuple[OutputMatch, ...]:
    """By the relative tolerance plus the same share of 1: the sum in the logarithm is rounded near 1."""
    (got,), (wanted,) = called.outputs, called.expected
    allowed = tolerance(called.case).relative * (wanted.double().abs() + 1.0)
    same = (got == wanted) | (got.isnan() & wanted.isnan())
    is_near = wanted.isfinite() & ((got.double() - wanted.double()).abs() <= allowed)
    return (OutputMatch(wrong=~(same | is_near)),)


def cost(case: Case) -> Cost:
    """6 operations per element."""
    return binary_cost(case, operations=6)


PROBLEM = ProblemDefinition(
    name="aten::logaddexp2",
    entry="logaddexp2",
    signature="logaddexp2(self: Tensor, other: Tensor) -> Tensor",
    summary="log2(2^a + 2^b)",
    category=Category.POINTWISE_BINARY,
    second_oracle="PyTorch's logaddexp2, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    compare=compare,
    cost=cost,
)
