"""A sum over strides that can be checked by hand: gaps and tail untouched."""

from __future__ import annotations

import torch

from problems.cublas.cublasSaxpy_v2 import reference


def test_only_the_elements_at_the_stride_change() -> None:
    x = torch.tensor([1.0, 50.0, 2.0, 50.0, 3.0])
    y = torch.tensor([10.0, 0.1, 0.2, 20.0, 0.3, 0.4, 30.0, 0.5, 0.6, 40.0])
    returned, written = reference(3, -2.0, x, 2, y, 3)
    wanted = torch.tensor([8.0, 0.1, 0.2, 16.0, 0.3, 0.4, 24.0, 0.5, 0.6, 40.0])
    assert torch.equal(returned, wanted)
    assert torch.equal(written, wanted)
