"""Sums over strides that can be checked by hand: gaps and tail untouched, negative increments from the far end."""

from __future__ import annotations

import pytest
import torch

from problems.kit.blas import axpy_eager, axpy_reference


def test_only_the_elements_at_the_stride_change() -> None:
    x = torch.tensor([1.0, 50.0, 2.0, 50.0, 3.0])
    y = torch.tensor([10.0, 0.1, 0.2, 20.0, 0.3, 0.4, 30.0, 0.5, 0.6, 40.0])
    returned, written = axpy_reference(3, -2.0, x, 2, y, 3)
    wanted = torch.tensor([8.0, 0.1, 0.2, 16.0, 0.3, 0.4, 24.0, 0.5, 0.6, 40.0])
    assert torch.equal(returned, wanted)
    assert torch.equal(written, wanted)


@pytest.mark.parametrize(
    ("incx", "incy", "wanted"),
    [
        (-2, 1, [13.0, 22.0, 31.0]),
        (2, -1, [13.0, 22.0, 31.0]),
        (-2, -1, [11.0, 22.0, 33.0]),
    ],
)
def test_vector_with_negative_increment_begins_at_far_end(incx: int, incy: int, wanted: list[float]) -> None:
    x = torch.tensor([1.0, 50.0, 2.0, 50.0, 3.0])
    y = torch.tensor([10.0, 20.0, 30.0])
    returned, _ = axpy_reference(3, 1.0, x, incx, y, incy)
    assert returned.tolist() == wanted
    assert axpy_eager(3, 1.0, x, incx, y, incy).tolist() == wanted
