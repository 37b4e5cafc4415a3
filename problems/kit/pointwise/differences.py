"""Cases, inputs and tolerance of sub and rsub, the differences with a factor alpha."""

from __future__ import annotations

from collections.abc import Sequence

from engine.model import Case, Cost, DType, Tier, Tolerance
from problems.kit.cases import F32, FLOATS, Arguments
from problems.kit.deferred import torch
from problems.kit.pointwise.binary import (
    binary_arguments,
    binary_cases,
    binary_cost,
    binary_over,
    binary_result,
    binary_values,
)
from problems.kit.tolerances import cancelling

_ALPHA = "{shape} {dtype} alpha {alpha}"


def difference_cases(*, dtype: Sequence[DType]) -> tuple[Case, ...]:
    """The cases of `binary_cases` over `dtype`, and factors: fractions for floats, special values, integers."""
    return (
        *binary_cases(dtype=dtype, scalars=[3, -2.5], alpha=1),
        *binary_over(Tier.FULL, _ALPHA, shape=(40, 33), other=(33,), alpha=[0.5, -3, 100.125], dtype=FLOATS),
        *binary_over(Tier.FULL, f"{_ALPHA} {{values}}", shape=(16, 33), other=(16, 33), alpha=[0, 0.5],
                     values="special", dtype=F32),
        *binary_over(Tier.FULL, _ALPHA, shape=(40, 33), other=(33,), alpha=-16777217, dtype=[DType.INT32, DType.INT64]),
        *binary_over(Tier.FULL, _ALPHA, shape=(40, 33), other=(33,), alpha=-3,
                     dtype=[DType.INT16, DType.INT8, DType.UINT8]),
    )  # fmt: skip


def difference_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: `shape`, other: `other`, which broadcast, or a number; alpha."""
    left, right = binary_values(case, rng, draw=_even)
    alpha = case.number("alpha")
    return *binary_arguments(case, left, right), int(alpha) if alpha.is_integer() else alpha


def difference_tolerance(case: Case) -> Tolerance:
    """Tolerance: the product may be rounded before the difference."""
    return cancelling(binary_result(case))


def difference_cost(case: Case) -> Cost:
    """Two operations per element."""
    return binary_cost(case, operations=2)


def _even(x: torch.Tensor) -> torch.Tensor:
    """Magnitudes within two powers of two, so the rounding error of one operand is small beside a typical result."""
    return x.clamp(-4, 4)
