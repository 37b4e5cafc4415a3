"""Active lanes of an access: their values, and the distinct elements and sectors, against plain loops."""

from __future__ import annotations

import numpy as np
import pytest

from engine.machine.lanes import SECTOR_BYTES, Lanes
from engine.machine.numerics import Array

ROWS, COLUMNS = 3, 8
RANDOM = np.random.default_rng(0)
INDICES = {
    "scalar": np.array([[7], [7], [9]]),
    "ascending": np.arange(24).reshape(ROWS, COLUMNS),
    "strided": np.arange(24).reshape(ROWS, COLUMNS) * 5,
    "descending": np.arange(24)[::-1].reshape(ROWS, COLUMNS),
    "repeated": np.arange(24).reshape(ROWS, COLUMNS) // 3,
    "random": RANDOM.integers(0, 40, (ROWS, COLUMNS)),
    "same for all": RANDOM.integers(0, 40, (1, COLUMNS)),
    "one lane for all": np.array([[5]]),
}
MASKS = {
    "none": None,
    "true": np.ones((1, 1), bool),
    "false": np.zeros((1, 1), bool),
    "columns": np.arange(COLUMNS)[None] < 5,
    "scattered columns": np.arange(COLUMNS)[None] % 3 == 1,
    "one column": np.arange(COLUMNS)[None] == 4,
    "rows": np.array([[True], [False], [True]]),
    "lanes": RANDOM.integers(0, 2, (ROWS, COLUMNS)).astype(bool),
}


def active(index: Array, mask: Array | None) -> tuple[tuple[int, ...], list[list[int]]]:
    """The shape of the access, and the indices of each row."""
    shape = np.broadcast_shapes(index.shape, mask.shape if mask is not None else index.shape)
    wide, chosen = np.broadcast_to(index, shape), np.broadcast_to(True if mask is None else mask, shape)
    return shape, [[int(one) for one in row[kept]] for row, kept in zip(wide, chosen, strict=True)]


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("index", INDICES)
def test_distinct_elements_and_sectors_are_those_of_each_row(index: str, mask: str) -> None:
    shape, rows = active(INDICES[index], MASKS[mask])
    lanes = Lanes.of(INDICES[index], MASKS[mask], shape)
    for unit in (1, 2, 4, 8, 3):
        for first_byte in (0, 4, 24, 1000):
            sectors = [{(first_byte + one * unit) // SECTOR_BYTES for one in row} for row in rows]
            expected = (sum(len(set(row)) for row in rows), sum(map(len, sectors)))
            assert lanes.distinct(unit, first_byte) == expected


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("index", INDICES)
def test_lanes_are_in_the_order_of_rows(index: str, mask: str) -> None:
    shape, rows = active(INDICES[index], MASKS[mask])
    lanes = Lanes.of(INDICES[index], MASKS[mask], shape)
    assert lanes.flat.tolist() == [one for row in rows for one in row]
    assert lanes.counts.tolist() == [len(row) for row in rows]
    owners = [number for number, row in enumerate(rows) for _ in row]
    assert lanes.of_rows(np.arange(len(rows))).tolist() == owners
    block = lanes.spread(lanes.flat, np.array([[-1]]))
    assert lanes.pick(block).tolist() == lanes.flat.tolist()
    assert np.count_nonzero(block >= 0) == lanes.flat.size
