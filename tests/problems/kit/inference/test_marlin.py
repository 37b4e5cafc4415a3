"""Marlin tiles: single weights at places that were worked out by hand, and every weight back where it was."""

from __future__ import annotations

import pytest
import torch

from problems.kit.inference.marlin import from_tiles, permuted_scales, restored_scales, scale_order, to_tiles


def place_of(row: int, column: int) -> tuple[int, int]:
    """The word and the shift at which the only weight that is not 0 is found; of a 16 x 64 matrix."""
    values = torch.zeros(16, 64, dtype=torch.int64)
    values[row, column] = 1
    words = to_tiles(values, 4)[0]
    (word,) = words.nonzero().flatten().tolist()
    return word, next(shift for shift in range(0, 32, 4) if words[word].item() == 1 << shift)


def test_first_weight_is_lowest_bits_of_first_word():
    assert place_of(0, 0) == (0, 0)


def test_lane_reads_rows_of_both_tile_halves():
    # The values of lane 0 are (0, 0), (1, 0), (8, 0), (9, 0), (0, 8), (1, 8), (8, 8), (9, 8); even ones come first.
    assert [place_of(*at)[1] for at in ((0, 0), (8, 0), (0, 8), (8, 8))] == [0, 4, 8, 12]
    assert [place_of(*at)[1] for at in ((1, 0), (9, 0), (1, 8), (9, 8))] == [16, 20, 24, 28]


def test_next_tile_is_next_word_and_lane_four():
    assert [place_of(0, column)[0] for column in (0, 16, 32, 48)] == [0, 1, 2, 3]
    assert place_of(2, 0) == (4, 0)
    assert place_of(0, 1) == (16, 0)


@pytest.mark.parametrize("bits", [4, 8])
def test_from_tiles_returns_packed_values(bits):
    values = torch.randint(0, 2**bits, (48, 128), generator=torch.Generator().manual_seed(1))
    words = to_tiles(values, bits)
    assert words.shape == (3, 128 * bits // 2)
    assert from_tiles(words, bits, 128).equal(values)


def test_group_scales_are_stored_by_eight_columns():
    columns = torch.arange(64).unsqueeze(0).repeat(2, 1)
    stored = permuted_scales(columns, scale_order(2))
    assert stored[0, :10].tolist() == [0, 8, 16, 24, 32, 40, 48, 56, 1, 9]
    assert restored_scales(stored, scale_order(2)).equal(columns)


def test_scales_of_one_group_are_stored_in_pairs():
    stored = permuted_scales(torch.arange(32).unsqueeze(0), scale_order(1))
    assert stored[0, :10].tolist() == [0, 1, 8, 9, 16, 17, 24, 25, 2, 3]
