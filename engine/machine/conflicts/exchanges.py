"""Checks of the accesses of one program against each other: lanes that exchange data through memory.

The warps of a program run independently of each other.  Triton orders their accesses to shared memory, which it makes
itself, but not those to global memory: a value that one warp stores and another one loads needs `tl.debug_barrier()`
between the two.  Every operation that may move elements between threads counts as a barrier, since the compiler may
insert one there; so this may overlook an exchange, and reports none that is ordered.
"""

from __future__ import annotations

import numpy as np

from engine.machine.conflicts.journal import Journal
from engine.machine.conflicts.races import Touched, bytes_by_granule
from engine.machine.conflicts.shadow import NEVER, Conflict, event_of, program_of, stamp
from engine.machine.conflicts.warps import Warps
from engine.machine.numerics import Array, unsigned
from engine.machine.results import FindingKind


class Exchanges:
    """Finds loads and stores of one program that nothing orders, in storages that it may both load and store."""

    def __init__(self, journal: Journal, *, programs: int, watched: frozenset[int], warps: Warps) -> None:
        self._journal = journal
        self._watched = watched if warps.count > 1 else frozenset()
        self._warps = warps
        self._ordered_until = np.zeros(programs if self._watched else 0, np.int64)

    def watches(self, place: int) -> bool:
        """Whether accesses to this storage are checked."""
        return place in self._watched

    def synchronize(self, programs: Array) -> None:
        """Order the accesses of each of these programs before and after this point."""
        if self._watched:
            self._ordered_until[programs] = len(self._journal.steps)

    def check_load(self, touched: Touched, event: int) -> None:
        """Check a load against earlier stores of its program, and keep it."""
        shadow, granules, lanes = touched.shadow, touched.granules, touched.lanes()
        if shadow.writers is not None and shadow.write_lanes is not None:
            conflict = self._unordered(touched, shadow.writers[granules])
            if conflict is not None:
                assert shadow.before is not None
                at = granules[conflict.at]
                now, before = (bytes_by_granule(data, shadow.granule) for data in (shadow.storage.data, shadow.before))
                differs = (now[at] != before[at]).any(axis=1)
                self._find(touched, conflict, stored=shadow.write_lanes[at], loaded=lanes[conflict.at], real=differs)
        shadow.note_read_lanes(granules, stamp(event, touched.programs), lanes)

    def check_store(self, touched: Touched, view: Array, written: Array) -> None:
        """Check the elements of `view` that a store is about to change to `written` against earlier loads; keep it."""
        shadow, granules, lanes = touched.shadow, touched.granules, touched.lanes()
        if shadow.last_reads is not None and shadow.read_lanes is not None:
            conflict = self._unordered(touched, shadow.last_reads[granules])
            if conflict is not None:
                differs = unsigned(view[touched.access.lanes.flat]) != unsigned(written)
                at, real = granules[conflict.at], differs[conflict.at // touched.per]
                self._find(touched, conflict, stored=lanes[conflict.at], loaded=shadow.read_lanes[at], real=real)
        shadow.note_write_lanes(granules, lanes)

    def _unordered(self, touched: Touched, earlier: Array) -> Conflict | None:
        """Earlier accesses of the same program with no barrier behind them; None if there are none."""
        own = (earlier != NEVER) & (program_of(earlier) == touched.programs)
        own &= event_of(earlier) >= self._ordered_until[touched.programs]
        at = np.flatnonzero(own)
        return Conflict(at=at, stamps=earlier[at]) if at.size else None

    def _find(self, touched: Touched, conflict: Conflict, *, stored: Array, loaded: Array, real: Array) -> None:
        """Record the `real` ones of the conflicts that are accesses of different warps."""
        is_load = bool(touched.access.step.operation.results)
        width = self._warps.width_of(touched.access.step.operation)
        events = event_of(conflict.stamps)
        apart = np.zeros(len(events), np.bool_)
        for event in np.unique(events):
            chosen = events == event
            other = self._warps.width_of(self._journal.steps[int(event)].operation)
            stored_width, loaded_width = (other, width) if is_load else (width, other)
            apart[chosen] = self._warps.are_apart(stored[chosen], stored_width, loaded[chosen], loaded_width)
        kind = FindingKind.WARP_CONFLICT
        self._journal.find_conflict(kind, touched.access, touched.programs, conflict, real & apart, touched.per)
