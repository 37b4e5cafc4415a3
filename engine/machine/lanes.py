"""The active lanes of one access: indices in the order of programs, and their mapping back to blocks."""

from __future__ import annotations

import math
from functools import cached_property

import msgspec
import numpy as np

from engine.machine.numerics import Array

SECTOR_BYTES = 32
_NO_ENDS = np.zeros(0, np.int64)


class Lanes(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """Indices of active lanes, flat; `shape` is that of the access with its axis of programs.

    A mask that is the same for all programs leaves `columns` of each row, any other mask is kept as `mask`.
    """

    flat: Array
    shape: tuple[int, ...]
    columns: slice | Array | None = None
    mask: Array | None = None

    @classmethod
    def of(cls, index: Array, mask: Array | None, shape: tuple[int, ...]) -> Lanes:
        """The lanes of `index` where `mask` is true."""
        rows = shape[0]
        wide = widened(index, shape)
        if mask is None or mask.all():
            return cls(flat=np.ascontiguousarray(wide).reshape(-1), shape=shape)
        if mask.shape[0] == 1:
            columns = _columns(widened(mask, (1, *shape[1:])).reshape(-1))
            return cls(flat=wide.reshape(rows, -1)[:, columns].reshape(-1), shape=shape, columns=columns)
        wide_mask = widened(mask, shape)
        return cls(flat=wide[wide_mask], shape=shape, mask=wide_mask)

    @property
    def rows(self) -> int:
        """Number of programs with a row; 1 if the access is the same for all."""
        return self.shape[0]

    @cached_property
    def counts(self) -> Array:
        """Active lanes per row."""
        if self.mask is not None:
            counts: Array = self.mask.reshape(self.rows, -1).sum(axis=1, dtype=np.int64)
            return counts
        return np.full(self.rows, self.flat.size // self.rows if self.rows else 0)

    @property
    def is_one_per_row(self) -> bool:
        """Whether every row has exactly one lane, as a scalar has."""
        return self.mask is None and self.flat.size == self.rows

    def of_rows(self, values: Array) -> Array:
        """A value per row, repeated for each active lane."""
        if self.mask is None:
            return values if self.is_one_per_row else np.repeat(values, self.flat.size // max(1, self.rows))
        return np.repeat(values, self.counts)

    def places(self) -> Array:
        """The place of each active lane in its row."""
        if self.mask is not None:
            return np.nonzero(self.mask.reshape(self.rows, -1))[1]
        places = np.arange(self.flat.size // max(1, self.rows) if self.columns is None else math.prod(self.shape[1:]))
        return np.tile(places if self.columns is None else places[self.columns], self.rows)

    def pick(self, values: Array) -> Array:
        """The active lanes of a block of values, flat."""
        wide = widened(values, self.shape)
        if self.mask is not None:
            return wide[self.mask]
        if self.columns is not None:
            return wide.reshape(self.rows, -1)[:, self.columns].reshape(-1)
        return wide.reshape(-1)

    def spread(self, values: Array, other: Array | None) -> Array:
        """A block with `values` in the active lanes, `other` or 0 in the rest."""
        if self.mask is None and self.columns is None:
            return values.reshape(self.shape)
        shape = self.shape if other is None else common_shape(self.shape, other.shape)
        block = np.empty(shape, values.dtype)
        block[...] = 0 if other is None else other
        if self.mask is not None:
            block[widened(self.mask, shape)] = values
        else:
            block.reshape(shape[0], -1)[:, self.columns] = values.reshape(self.rows, -1)
        return block

    def distinct(self, unit: int, first_byte: int) -> tuple[int, int]:
        """Different elements, and different 32-byte sectors, per row, summed; `first_byte` is that of index 0."""
        if self.flat.size == 0:
            return 0, 0
        if self.is_one_per_row:
            return self.rows, self.rows
        ends = self._ends()
        ordered = self.flat
        if not _increases(ordered, ends):
            ordered = self._sorted()
        fresh = ordered[1:] != ordered[:-1]
        fresh[ends - 1] = True
        sectors = _sectors(ordered, unit, first_byte)
        changes = sectors[1:] != sectors[:-1]
        changes[ends - 1] = True
        return int(np.count_nonzero(fresh)) + 1, int(np.count_nonzero(changes)) + 1

    def _ends(self) -> Array:
        """Where a row begins, other than the first."""
        if self.rows == 1:
            return _NO_ENDS
        if self.mask is None:
            length = self.flat.size // self.rows
            return np.arange(length, self.flat.size, length)
        ends = np.cumsum(self.counts)[:-1]
        return ends[(ends > 0) & (ends < self.flat.size)]

    def _sorted(self) -> Array:
        """Indices in ascending order within each row."""
        if self.mask is None:
            return np.sort(self.flat.reshape(self.rows, -1), axis=1).reshape(-1)
        return self.flat[np.lexsort((self.flat, self.of_rows(np.arange(self.rows))))]


def widened(array: Array, shape: tuple[int, ...]) -> Array:
    """`np.broadcast_to`, without its cost where nothing is to be done."""
    return array if array.shape == shape else np.broadcast_to(array, shape)


def common_shape(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """`np.broadcast_shapes`, without its cost where all are the same."""
    first = shapes[0]
    return first if all(shape == first for shape in shapes) else np.broadcast_shapes(*shapes)


def is_increasing(flat: Array) -> bool:
    """Whether each index is larger than the one before, so that none occurs twice."""
    return bool((flat[1:] > flat[:-1]).all())


def _increases(flat: Array, ends: Array) -> bool:
    """Whether each row is ascending."""
    rising = flat[1:] >= flat[:-1]
    rising[ends - 1] = True
    return bool(rising.all())


def _sectors(index: Array, unit: int, first_byte: int) -> Array:
    """The sector of each element, by the byte where it begins."""
    per = SECTOR_BYTES // unit
    if first_byte % unit == 0 and per * unit == SECTOR_BYTES:
        first = first_byte // unit % per
        return (index + first if first else index) >> (per.bit_length() - 1)
    return (index * unit + first_byte % SECTOR_BYTES) >> 5


def _columns(mask: Array) -> slice | Array:
    """The positions where a mask is true; a slice if they are contiguous."""
    places = np.flatnonzero(mask)
    if places.size and places[-1] - places[0] + 1 == places.size:
        return slice(int(places[0]), int(places[-1]) + 1)
    return places
