"""Factors of matrix products: which special values meet in a sum, and which do not."""

from __future__ import annotations

import torch

from engine.model import Case, DType, Tier
from problems.kit.products import operand

CASE = Case(name="special", dtype=DType.BFLOAT16, tier=Tier.FULL, params={"values": "special"})


def factors(seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """(2, 5, 3) and (2, 3, 4) with special values."""
    rng = torch.Generator().manual_seed(seed)
    right = operand(CASE, (2, 3, 4), rng, layout="contiguous", rows=False)
    return operand(CASE, (2, 5, 3), rng, layout="contiguous"), right


def test_subnormal_value_is_not_multiplied_by_infinity() -> None:
    for seed in range(30):
        left, right = factors(seed)
        is_subnormal = (left != 0) & (left.abs() < torch.finfo(left.dtype).tiny)
        assert is_subnormal.sum() == 1
        assert not bool((is_subnormal.double() @ right.isinf().double()).any())


def test_both_factors_have_values_that_are_not_finite() -> None:
    left, right = factors(0)
    assert (left.isnan().sum(), left.isposinf().sum(), left.isneginf().sum()) == (1, 1, 1)
    assert (right.isnan().sum(), right.isneginf().sum()) == (1, 1)
