"""Checks of the accesses of one program against each other: lanes that exchange data through memory.

The warps of a program run independently of each other.  Triton orders their accesses to shared memory, which it makes
itself, but not those to global memory: a value that one warp stores and another one loads needs `tl.debug_barrier()`
between the two.  Every operation that may move elements between threads counts as a barrier, since the compiler may
insert one there; so may a conversion of layouts between a load and a store, where each thread has several elements.
So this may overlook an exchange, and reports none that is ordered.
"""

from __future__ import annotations

import numpy as np

from engine.machine.conflicts.journal import Journal
from engine.machine.conflicts.races import Touched
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
        if shadow.last_changes is not None:
            stamps, change_lanes = shadow.last_changes
            conflict = self._unordered(touched, stamps[granules])
            if conflict is not None:
                stored, real = change_lanes[granules[conflict.at]], np.ones(len(conflict.at), np.bool_)
                self._find(touched, conflict, stored=stored, loaded=lanes[conflict.at], real=real)
        shadow.note_read_lanes(granules, stamp(event, touched.programs), lanes)

    def check_store(self, touched: Touched, event: int, view: Array, written: Array) -> None:
        """Check the elements of `view` that a store is about to change to `written` against earlier loads; keep it."""
        shadow, granules, lanes = touched.shadow, touched.granules, touched.lanes()
        differs = np.repeat(unsigned(view[touched.access.lanes.flat]) != unsigned(written), touched.per)
        if shadow.last_reads is not None:
            earlier, read_lanes = shadow.last_reads
            conflict = self._unordered(touched, earlier[granules])
            if conflict is not None:
                loaded, stored = read_lanes[granules[conflict.at]], lanes[conflict.at]
                real = differs[conflict.at] & self._may_use(touched, conflict, loaded)
                self._find(touched, conflict, stored=stored, loaded=loaded, real=real)
        stamps = stamp(event, touched.programs)
        shadow.note_change_lanes(granules[differs], stamps[differs], lanes[differs])

    def _may_use(self, touched: Touched, conflict: Conflict, loaded: Array) -> Array:
        """Whether each lane that loaded may use the value: not if it is masked in the store, as beyond the end.

        Where a mask keeps lanes from the store, they may load other elements, such as the first one.
        """
        width = self._warps.width_of(touched.access.step.operation)
        events = event_of(conflict.stamps)
        steps = self._journal.steps
        alike = [event for event in np.unique(events) if self._warps.width_of(steps[int(event)].operation) == width]
        storing = _keys(touched.programs, touched.lanes())
        return ~np.isin(events, alike) | np.isin(_keys(touched.programs[conflict.at], loaded), storing)

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
            if not is_load and max(width, other) > self._warps.lanes:
                continue  # what is stored may have been moved between threads behind the load
            stored_width, loaded_width = (other, width) if is_load else (width, other)
            apart[chosen] = self._warps.are_apart(stored[chosen], stored_width, loaded[chosen], loaded_width)
        kind = FindingKind.WARP_CONFLICT
        self._journal.find_conflict(kind, touched.access, touched.programs, conflict, real & apart, touched.per)


def _keys(programs: Array, lanes: Array) -> Array:
    """One number for each lane of each program."""
    return np.int64(programs) << 32 | lanes
