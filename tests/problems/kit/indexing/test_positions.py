"""Flat positions against NumPy's own advanced indexing, an independent implementation of the same rules."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from problems.kit.indexing.positions import positions

FIRST, SECOND = torch.tensor([[1], [-1]]), torch.tensor([0, -2, 2])
MASK = torch.arange(20).view(4, 5) % 3 == 0
LISTS = [(FIRST, SECOND), (FIRST, None, SECOND), (None, FIRST, SECOND), (FIRST, None, None, SECOND), (MASK,)]


@pytest.mark.parametrize("indices", LISTS)
def test_positions_equal_numpy_selection(indices: tuple[torch.Tensor | None, ...]) -> None:
    x = np.arange(4 * 5 * 3 * 6).reshape(4, 5, 3, 6)
    key = tuple(slice(None) if index is None else index.numpy() for index in indices)
    assert np.array_equal(positions(x.shape, indices).numpy(), x[key])
