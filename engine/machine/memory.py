"""The memory of a launch: named storages at addresses, and arguments that point to them.

A storage has the bytes of one tensor and the type of its elements.  Storages never overlap; for each byte it is known
whether it was written before the launch, so that uninitialized reads are found.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cached_property
from typing import TypeAlias

import msgspec
import numpy as np

from engine.machine.ir import Scalar
from engine.machine.numerics import Array
from engine.machine.values import NOWHERE


class Storage(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes with a name; `data` is a one-dimensional, contiguous uint8 array that a launch changes in place.

    `written` has a bool per byte, and a launch sets those that it writes; None means that all bytes are written.
    `stored` has a bool per byte too, those that launches wrote; None means that they are not wanted.
    """

    name: str
    data: Array
    base: int
    element: Scalar
    written: Array | None = None
    stored: Array | None = None

    def __post_init__(self) -> None:
        if self.data.dtype != np.uint8 or self.data.ndim != 1 or not self.data.flags.c_contiguous:
            raise ValueError(f"storage {self.name}: data must be a contiguous one-dimensional uint8 array")
        if self.base < 0:
            raise ValueError(f"storage {self.name}: base {self.base} is negative")
        if self.written is not None and (self.written.dtype != np.bool_ or self.written.shape != self.data.shape):
            raise ValueError(f"storage {self.name}: written must have one bool per byte of data")
        if self.stored is not None and (self.stored.dtype != np.bool_ or self.stored.shape != self.data.shape):
            raise ValueError(f"storage {self.name}: stored must have one bool per byte of data")

    @property
    def bytes(self) -> int:
        """The size in bytes."""
        return len(self.data)


class Address(msgspec.Struct, frozen=True, kw_only=True):
    """An argument that points to byte `offset` of a storage; `storage` is its index in the memory."""

    storage: int
    offset: int = 0


class DescriptorArgument(msgspec.Struct, frozen=True, kw_only=True):
    """A host-side tensor descriptor: a base, and its shape and strides in elements; it may round float32 to TF32."""

    base: Address
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    padding_is_nan: bool = False
    rounds_to_tf32: bool = False


Argument: TypeAlias = int | float | bool | Address | DescriptorArgument


class Memory:
    """All storages of a launch.

    Raises:
        ValueError: two storages overlap.
    """

    def __init__(self, storages: Sequence[Storage]) -> None:
        self.storages = tuple(storages)
        order = sorted(range(len(self.storages)), key=lambda place: self.storages[place].base)
        for before, after in itertools.pairwise(order):
            first, second = self.storages[before], self.storages[after]
            if first.base + first.bytes > second.base:
                raise ValueError(f"storages {first.name} and {second.name} overlap")
        self._order = order

    @cached_property
    def _edges(self) -> tuple[Array, Array, Array]:
        """Bases in ascending order, the ends of the storages, and their indices."""
        bases = [self.storages[place].base for place in self._order]
        ends = [self.storages[place].base + self.storages[place].bytes for place in self._order]
        return np.array(bases, np.uint64), np.array(ends, np.uint64), np.array(self._order, np.int64)

    def bases(self, origin: int | Array) -> int | Array:
        """The base of each origin; 0 for addresses of no storage."""
        if isinstance(origin, int):
            return self.storages[origin].base if origin != NOWHERE else 0
        table = np.array([*(storage.base for storage in self.storages), 0], np.uint64)  # -1 is the last row
        return table.view(np.int64)[origin]

    def locate(self, addresses: Array) -> int | Array:
        """The storage of each absolute address (int64 bits): one number if it is the same for all."""
        if not self.storages:
            return NOWHERE
        bases, ends, places = self._edges
        numbers = np.ascontiguousarray(addresses).view(np.uint64)
        row = np.searchsorted(bases, numbers, side="right") - 1
        inside = (row >= 0) & (numbers < ends[row])
        found = np.where(inside, places[row], NOWHERE)
        first = int(found.flat[0]) if found.size else NOWHERE
        return first if bool((found == first).all()) else found
