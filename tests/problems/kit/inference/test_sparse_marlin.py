"""2:4 sparse weights: positions at places that were worked out by hand, and dense matrices from what was kept."""

from __future__ import annotations

import torch

from problems.kit.inference.marlin import from_tiles, to_tiles
from problems.kit.inference.sparse_marlin import from_meta, sparse_order, spread, to_meta

# The quadruples keep the first two values, whose positions 0 and 1 are the bits 0100.
FIRST_TWO = torch.tensor([0, 1]).reshape(1, 2, 1)


def test_positions_of_four_quadruples_are_nibbles_of_word():
    positions = FIRST_TWO.repeat(8, 1, 64)
    positions[1, :, 0] = torch.tensor([2, 3])  # 1110
    meta = to_meta(positions)
    assert meta.shape == (1, 128)
    assert meta[0, 0].item() == 0x44E4
    assert (meta == 0x4444).sum().item() == 127


def test_second_column_is_moved_by_four_places():
    positions = FIRST_TWO.repeat(8, 1, 64)
    positions[0, :, 1] = torch.tensor([2, 3])
    # Row 1 goes to row 2 of the reordered matrix, whose pairs of columns follow each other.
    assert to_meta(positions)[0].tolist().index(0x444E) == 4


def test_from_meta_returns_the_positions():
    generator = torch.Generator().manual_seed(1)
    positions = torch.rand((24, 4, 128), generator=generator).argsort(1)[:, :2].sort(1).values
    assert from_meta(to_meta(positions)).equal(positions)


def test_spread_puts_kept_values_at_positions():
    positions = torch.tensor([[[0], [3]], [[1], [2]]])
    kept = torch.tensor([[5], [6], [7], [8]])
    assert spread(kept, positions).flatten().tolist() == [5, 0, 0, 6, 0, 7, 8, 0]


def test_sparse_tiles_return_packed_values():
    kept = torch.randint(0, 16, (32, 128), generator=torch.Generator().manual_seed(1))
    assert sorted(sparse_order().tolist()) == list(range(1024))
    assert from_tiles(to_tiles(kept, 4, sparse_order()), 4, 128, sparse_order()).equal(kept)
