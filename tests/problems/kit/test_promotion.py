"""The rules of promotion against those of torch."""

from __future__ import annotations

import itertools

import pytest
import torch

from engine.model import DType
from problems.kit import FLOATS, WHOLE, torch_dtype
from problems.kit.promotion import floating, promoted, with_scalar

DTYPES = (*FLOATS, *WHOLE, DType.FLOAT64, DType.COMPLEX64, DType.COMPLEX128)


def test_promoted_of_every_pair_is_that_of_torch() -> None:
    for left, right in itertools.product(DTYPES, DTYPES):
        expected = torch.promote_types(torch_dtype(left), torch_dtype(right))
        assert torch_dtype(promoted(left, right)) == expected, (left, right)


@pytest.mark.parametrize("scalar", [True, 2, 2.5])
def test_scalar_promotion_of_every_dtype_equals_torch(scalar: float) -> None:
    for dtype in DTYPES:
        expected = torch.result_type(torch.empty(1, dtype=torch_dtype(dtype)), scalar)
        assert torch_dtype(with_scalar(dtype, scalar)) == expected, dtype


def test_floating_of_every_dtype_equals_torch_sin() -> None:
    for dtype in DTYPES:
        assert torch_dtype(floating(dtype)) == torch.sin(torch.ones(1).to(torch_dtype(dtype))).dtype, dtype
