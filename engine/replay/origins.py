"""The origin of each byte of a tape's storages: whether a kernel stored it, or torch moved it there."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping

import numpy as np

from engine.machine.numerics import Array
from engine.protocol.proof.tape import ELEMENT_BYTES, Addressed, Filled, Given, LookedUp, Moved, Step, Tape, TapedView


class Origin(enum.IntEnum):
    """What gave a byte its value; an element has the highest origin of its bytes."""

    OTHER = 0
    MOVED = 1
    KERNEL = 2
    LOOKED_UP = 3


class Origins:
    """Follows the steps of one tape."""

    def __init__(self, tape: Tape) -> None:
        self._sizes = [storage.bytes for storage in tape.storages]
        self._held: dict[int, Array] = {}

    def note(self, step: Step) -> None:
        """Follow a step other than a launch."""
        match step:
            case Filled():
                self._bytes(step.target)[...] = Origin.MOVED
            case Moved():
                self._bytes(step.target)[...] = np.maximum(self.of(step.source), Origin.MOVED)[..., None]
            case LookedUp():
                self._bytes(step.target)[...] = Origin.LOOKED_UP
            case Given() | Addressed():
                self._held.pop(step.storage, None)

    def note_stored(self, stored: Iterable[int], exactly: Mapping[int, Array]) -> None:
        """Follow a launch that stored to these storages; `exactly` has a bool per byte where that is known."""
        for storage in stored:
            self._of_storage(storage)[exactly.get(storage, slice(None))] = Origin.KERNEL

    def of(self, view: TapedView) -> Array:
        """The origin of each element of a view."""
        found: Array = self._bytes(view).max(axis=-1)
        return found

    def is_moved(self, storage: int) -> bool:
        """Whether torch gave at least half of the bytes of a storage, and no kernel has stored to these since."""
        origins = self._of_storage(storage)
        moved = int(np.count_nonzero((origins == Origin.MOVED) | (origins == Origin.LOOKED_UP)))
        return moved > 0 and 2 * moved >= len(origins)

    def is_looked_up(self, view: TapedView) -> bool:
        """Whether torch has looked up at least half of the elements, and no kernel has stored to these since."""
        origins = self.of(view)
        found = int(np.count_nonzero(origins == Origin.LOOKED_UP))
        return found > 0 and 2 * found >= origins.size

    def _of_storage(self, storage: int) -> Array:
        return self._held.setdefault(storage, np.zeros(self._sizes[storage], np.uint8))

    def _bytes(self, view: TapedView) -> Array:
        """The origins of a checked view, those of the bytes of an element along the last axis."""
        size = ELEMENT_BYTES[view.dtype]
        shape = (*view.shape, size)
        if 0 in view.shape:
            return np.empty(shape, np.uint8)
        strides = (*(stride * size for stride in view.strides), 1)
        held = self._of_storage(view.storage)
        return np.ndarray(shape, np.uint8, buffer=held.data, offset=view.offset_bytes, strides=strides)
