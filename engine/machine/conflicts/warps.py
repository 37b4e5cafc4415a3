"""Which lanes of a block run in different warps of a GPU.

A block of one dimension is distributed over the threads of a program in turn, a few neighbouring elements for each: the
layout `#ttg.blocked` of TTGIR, described in `TritonGPUAttrDefs.td`.  The compiler chooses how many elements that are, a
power of two, and may choose another one for each access: at most 16, those of one access of 16 bytes, and no more than
each thread has.  A scalar is loaded by every warp, and stored by the first.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np

from engine.machine.ir import Operation, Tensor
from engine.machine.numerics import Array
from engine.machine.values import elements_of, shape_of

_MOST_NEIGHBOURS = 16
_PLAIN = ("tt.load", "tt.store")
SCALAR = 1
UNKNOWN = 0


class Warps(msgspec.Struct, frozen=True, kw_only=True):
    """The warps of each program of a launch, and the threads of each warp.

    A program of several blocks of threads (`num_ctas` of its options) counts as one warp: how its lanes are distributed
    is not known here.
    """

    count: int = 1
    threads: int = 32

    @classmethod
    def of_launch(cls, num_warps: int, *, has_one_block: bool, threads: int) -> Warps:
        """The warps of each program of a launch, which may have one block of threads."""
        return cls(count=num_warps if has_one_block else 1, threads=threads)

    @property
    def lanes(self) -> int:
        """The threads of a program: in a block of as many elements each thread has one."""
        return self.count * self.threads

    def width_of(self, operation: Operation) -> int:
        """Lanes of an access whose warps are known; SCALAR for a single element, else UNKNOWN.

        They are unknown in a block of several dimensions, whose order the compiler chooses, and in one with fewer
        elements than there are threads, of which several threads may have each.
        """
        if operation.name not in _PLAIN:
            return UNKNOWN
        kind = operation.results[0].type if operation.results else operation.operands[1].type
        elements = elements_of(kind)
        if elements == 1:
            return SCALAR
        is_spread = isinstance(kind, Tensor) and len(shape_of(kind)) == 1 and elements >= self.lanes
        return elements if is_spread else UNKNOWN

    def are_apart(self, stored: Array, stored_width: int, loaded: Array, loaded_width: int) -> Array:
        """Whether an element that lane `stored` stores and lane `loaded` loads is accessed by different warps.

        True only if that follows for every layout; never for two scalars, since the first warp accesses both.
        """
        if UNKNOWN in (stored_width, loaded_width) or stored_width == loaded_width == SCALAR or self.count == 1:
            return np.zeros(len(stored), np.bool_)
        if loaded_width == SCALAR:
            return np.ones(len(stored), np.bool_)
        apart = np.ones(len(stored), np.bool_)
        for storing in self._warps_of(stored, stored_width):
            for loading in self._warps_of(loaded, loaded_width):
                apart &= storing != loading
        return apart

    def _warps_of(self, lanes: Array, width: int) -> Iterator[Array]:
        """The warp of each lane, for each number of neighbouring elements of a thread."""
        if width == SCALAR:
            yield np.zeros(len(lanes), np.int64)
            return
        neighbours = 1
        while neighbours <= min(_MOST_NEIGHBOURS, width // self.lanes):
            yield lanes // (neighbours * self.threads) % self.count
            neighbours *= 2


ONE_WARP = Warps()
"""A program that cannot exchange data between warps."""
