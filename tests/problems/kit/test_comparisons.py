"""Operands of comparisons hold pairs that a narrower type cannot tell apart."""

from __future__ import annotations

import pytest
import torch

from engine.model import DType
from problems.kit.pointwise.binary import binary_cases
from problems.kit.pointwise.comparisons import compared_values


@pytest.mark.parametrize("dtype", [DType.INT64, DType.INT32])
def test_some_compared_integers_are_equal_in_float32(dtype: DType) -> None:
    case = binary_cases(dtype=[dtype])[0]
    left, right = compared_values(case, torch.Generator().manual_seed(1))
    is_other = left != right
    assert bool((is_other & (left.float() == right.float())).any())
    assert bool((is_other & (left > right)).any())
    assert bool((is_other & (left < right)).any())


def test_neighbour_of_an_end_stays_in_its_dtype() -> None:
    case = binary_cases(dtype=[DType.INT8])[0]
    left, right = compared_values(case, torch.Generator().manual_seed(1))
    near = (left.int() - right.int()).abs() <= 1
    assert int(near.sum()) > left.numel() // 2
