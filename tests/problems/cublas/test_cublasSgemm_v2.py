"""Products of buffers that can be checked by hand: columns first, padding untouched."""

from __future__ import annotations

import math

import pytest
import torch

from problems.kit.blas import gemm_eager, gemm_reference

PAD = 99.0
A = torch.tensor([1.0, 2.0, PAD, 3.0, 4.0, PAD])
"""((1, 3), (2, 4)) with a leading dimension of three."""
B = torch.tensor([5.0, 6.0, 7.0, 8.0])
"""((5, 7), (6, 8))."""


@pytest.mark.parametrize(
    ("trans", "product"),
    [
        ("NN", [23.0, 34.0, PAD, 31.0, 46.0, PAD]),
        ("TN", [17.0, 39.0, PAD, 23.0, 53.0, PAD]),
        ("NT", [26.0, 38.0, PAD, 30.0, 44.0, PAD]),
        ("TT", [19.0, 43.0, PAD, 22.0, 50.0, PAD]),
    ],
)
@pytest.mark.parametrize("function", [gemm_reference, gemm_eager])
def test_beta_zero_overwrites_unread_c(function: object, trans: str, product: list[float]) -> None:
    assert callable(function)
    c = torch.tensor([math.nan, math.nan, PAD, math.nan, math.nan, PAD])
    final = function(*trans, 2, 2, 2, 1.0, A, 3, B, 2, 0.0, c, 3)
    returned = final[0] if isinstance(final, tuple) else final
    assert returned.tolist() == product


def test_alpha_scales_product_and_beta_old_value() -> None:
    c = torch.tensor([1.0, 2.0, PAD, 3.0, 4.0, PAD])
    returned, written = gemm_reference("N", "N", 2, 2, 2, 2.0, A, 3, B, 2, -1.0, c, 3)
    assert returned.tolist() == written.tolist() == [45.0, 66.0, PAD, 59.0, 88.0, PAD]
