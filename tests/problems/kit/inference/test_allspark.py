"""The n32k16 layout: single weights at places that were worked out by hand, and every weight back where it was."""

from __future__ import annotations

import pytest
import torch

from problems.kit.inference.allspark import from_interleaved, scale_places, to_interleaved


@pytest.mark.parametrize(
    ("weight", "place"),
    [((0, 0), 0), ((1, 0), 1), ((8, 0), 2), ((0, 8), 4), ((0, 16), 8), ((2, 0), 16), ((16, 0), 64), ((0, 1), 128)],
)
def test_weight_is_stored_at_its_place(weight, place):
    weights = torch.zeros(32, 32, dtype=torch.uint8)
    weights[weight] = 1
    assert to_interleaved(weights).flatten().nonzero().item() == place


def test_from_interleaved_returns_the_weights():
    weights = torch.randint(0, 256, (48, 64), generator=torch.Generator().manual_seed(1), dtype=torch.uint8)
    assert to_interleaved(weights).shape == (64, 48)
    assert from_interleaved(to_interleaved(weights)).equal(weights)


def test_scales_of_distant_columns_are_neighbours():
    assert scale_places(64)[[0, 8, 16, 24, 1, 32]].tolist() == [0, 1, 2, 3, 4, 32]
