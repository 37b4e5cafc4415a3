"""Shadow memory: which program wrote and read each element of a storage in one launch.

A stamp is `event << 32 | program`; events number the executed memory operations.  Two accesses by different programs
are ordered when both programs performed an atomic operation (or a volatile load) after the first one: locks, tickets
and flags order the accesses that they guard.  In a kernel without a barrier the one of the first program has to release
what it did before, and that of the second one to acquire that; relaxed ones do neither.  This may overlook a race
between programs that synchronise elsewhere; it reports no false race.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec
import numpy as np

from engine.machine.memory import Storage
from engine.machine.numerics import Array, word_of, words

NEVER = -1
_BY_GRANULE = ("written", "writers", "first_readers", "last_readers", "last_changes", "last_reads")
"""Arrays of a shadow whose last axis has an entry per granule."""
_RELAXED = 'atomic operations with sem="relaxed" order no other accesses'
_ONE_SIDED = 'an atomic operation with sem="acquire" orders no access before it, one with sem="release" none after it'
_PROGRAM_BITS = np.int64(0xFFFFFFFF)


class Conflict(msgspec.Struct, frozen=True, kw_only=True):
    """Accesses of one execution that conflict with earlier ones: positions in the access, and the earlier stamps."""

    at: Array
    stamps: Array


def stamp(event: int, programs: Array) -> Array:
    """The stamps of an access."""
    return np.int64(event << 32) | programs


def program_of(stamps: Array) -> Array:
    """The programs in stamps."""
    return stamps & _PROGRAM_BITS


def event_of(stamps: Array) -> Array:
    """The events in stamps."""
    return stamps >> 32


class AtomicOrder:
    """The last atomic operations of each program, as events: those that order accesses before, and after them.

    In a kernel with a barrier every atomic operation orders both.
    """

    def __init__(self, *, programs: int, has_barrier: bool) -> None:
        self._programs = programs
        self._has_barrier = has_barrier
        self._weak: set[str] = set()
        self._every: Array | None = None
        self._acquired: Array | None = None
        self._released: Array | None = None

    def note(self, programs: Array, event: int, *, sem: object = None) -> None:
        """Record that these programs have performed an atomic operation, or a volatile load without a `sem`."""
        self._every = self._with(self._every, programs, event)
        if self._has_barrier or sem not in ("relaxed", "release"):
            self._acquired = self._with(self._acquired, programs, event)
        if self._has_barrier or sem not in ("relaxed", "acquire"):
            self._released = self._with(self._released, programs, event)
        if not self._has_barrier and isinstance(sem, str):
            self._weak.add(sem)

    def orders(self, programs: Array, stamps: Array) -> Array | None:
        """Whether each access by these programs is ordered after the earlier one of a stamp; None if none is."""
        if self._acquired is None or self._released is None:
            return None
        return _is_ordered(programs, stamps, acquired=self._acquired, released=self._released)

    def cause(self, programs: Array, conflict: Conflict) -> str:
        """The reason of a conflict that atomic operations with another `sem` would have ordered; "" for others."""
        every = self._every
        if every is None:
            return ""
        if not _is_ordered(programs[conflict.at], conflict.stamps, acquired=every, released=every).all():
            return ""
        return _RELAXED if "relaxed" in self._weak else _ONE_SIDED

    def _with(self, events: Array | None, programs: Array, event: int) -> Array:
        events = np.full(self._programs, -1, np.int64) if events is None else events
        events[programs] = event
        return events


@dataclass(kw_only=True)
class Shadow:
    """The history of one storage, per granule: an element, or one byte after an access of another unit.

    Where lanes of one program may exchange data, there are also two rows, the stamps and the lanes, of the last write
    that changed something, and of the last read.
    """

    storage: Storage
    granule: int
    written: Array | None
    writers: Array | None = None
    first_readers: Array | None = None
    last_readers: Array | None = None
    last_changes: Array | None = None
    last_reads: Array | None = None
    before: Array | None = field(default=None)

    @classmethod
    def of(cls, storage: Storage) -> Shadow:
        """The state at the start of a launch."""
        granule = storage.element.bytes if storage.bytes % storage.element.bytes == 0 else 1
        written = storage.written
        if written is None or written.all():
            return cls(storage=storage, granule=granule, written=None)
        flags = words(written, granule)
        whole = flags == word_of(1, granule)
        if not np.array_equal(whole, flags != 0):
            return cls(storage=storage, granule=1, written=written.copy())
        return cls(storage=storage, granule=granule, written=whole)

    def granules(self, index: Array, unit: int, start: int) -> tuple[Array, int]:
        """The granules of elements, one row per element or flat if one each; refines to bytes if necessary."""
        if unit % self.granule or start % self.granule:
            self._refine()
        per = unit // self.granule
        if per == 1:
            return (index + start // self.granule if start else index), 1
        first = index * per + start // self.granule
        return (first[:, None] + np.arange(per)).ravel(), per

    def save(self) -> None:
        """Keep the bytes before the first write, to compare with and to restore."""
        if self.before is None:
            self.before = self.storage.data.copy()

    def restore(self) -> None:
        """Undo every write of the launch."""
        if self.before is not None:
            self.storage.data[:] = self.before

    def commit(self) -> None:
        """Record the writes in the storage."""
        if self.storage.written is not None and self.written is not None:
            self.storage.written[:] = np.repeat(self.written, self.granule)
        if self.storage.stored is not None and self.writers is not None:
            self.storage.stored[np.repeat(self.writers != NEVER, self.granule)] = True

    def unwritten(self, granules: Array) -> Array | None:
        """Positions in `granules` that were never written, None if there are none."""
        if self.written is None:
            return None
        missing = ~self.written[granules]
        return np.flatnonzero(missing) if missing.any() else None

    def writes_of_others(self, granules: Array, programs: Array, order: AtomicOrder | None) -> Conflict | None:
        """Unordered writes by other programs to the accessed elements; None if there are none."""
        if self.writers is None:
            return None
        return _clashes(self.writers[granules], programs, order)

    def reads_of_others(self, granules: Array, programs: Array, order: AtomicOrder | None) -> Conflict | None:
        """Unordered reads by other programs of the written elements; None if there are none."""
        if self.first_readers is None or self.last_readers is None:
            return None
        first = _clashes(self.first_readers[granules], programs, order)
        return first or _clashes(self.last_readers[granules], programs, order)

    def note_write(self, granules: Array, stamps: Array) -> None:
        """Record that these programs have written these granules."""
        if self.writers is None:
            self.writers = np.full(self._count(), NEVER, np.int64)
        self.writers[granules] = stamps
        if self.written is not None:
            self.written[granules] = True

    def note_read(self, granules: Array, stamps: Array) -> None:
        """Keep the first reader of each granule, and the last one that is another program."""
        if self.first_readers is None or self.last_readers is None:
            self.first_readers = np.full(self._count(), NEVER, np.int64)
            self.last_readers = np.full(self._count(), NEVER, np.int64)
        known = self.first_readers[granules]
        unread = known == NEVER
        if unread.all():
            self.first_readers[granules] = stamps
            known = self.first_readers[granules]
        elif unread.any():
            self.first_readers[granules[unread]] = stamps[unread]
            known = self.first_readers[granules]
        other = program_of(known) != program_of(stamps)
        if other.any():
            self.last_readers[granules[other]] = stamps[other]

    def note_change_lanes(self, granules: Array, stamps: Array, lanes: Array) -> None:
        """Record the programs and lanes that have changed these granules."""
        self.last_changes = self._with_lanes(self.last_changes, granules, stamps, lanes)

    def note_read_lanes(self, granules: Array, stamps: Array, lanes: Array) -> None:
        """Record the programs and lanes that have read these granules."""
        self.last_reads = self._with_lanes(self.last_reads, granules, stamps, lanes)

    def _with_lanes(self, rows: Array | None, granules: Array, stamps: Array, lanes: Array) -> Array:
        """The rows with these stamps and lanes."""
        rows = np.full((2, self._count()), NEVER, np.int64) if rows is None else rows
        rows[0, granules], rows[1, granules] = stamps, lanes
        return rows

    def _count(self) -> int:
        return self.storage.bytes // self.granule

    def _refine(self) -> None:
        """Split every granule into bytes."""
        if self.granule == 1:
            return
        for name in _BY_GRANULE:
            array = getattr(self, name)
            if array is not None:
                setattr(self, name, np.repeat(array, self.granule, axis=-1))
        self.granule = 1


def _clashes(earlier: Array, programs: Array, order: AtomicOrder | None) -> Conflict | None:
    """The conflict with earlier accesses of another program that are not ordered before this one."""
    if earlier.size == 0 or int(earlier.max()) == NEVER:
        return None
    owners = program_of(earlier)
    clash = (earlier != NEVER) & (owners != programs)
    ordered = order.orders(programs, np.where(clash, earlier, 0)) if order is not None and clash.any() else None
    if ordered is not None:
        clash &= ~ordered
    if not clash.any():
        return None
    at = np.flatnonzero(clash)
    return Conflict(at=at, stamps=earlier[at])


def _is_ordered(programs: Array, earlier: Array, *, acquired: Array, released: Array) -> Array:
    """Whether since an earlier access its program has released what it did, and that of the later one acquired that.

    Both are the last events of such atomics by program.
    """
    events = event_of(earlier)
    ordered: Array = (acquired[programs] >= events) & (released[program_of(earlier)] >= events)
    return ordered
