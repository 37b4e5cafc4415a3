"""Checks of the accesses of a launch against those of its other programs.

Nothing here changes memory: a conflict is recorded, and execution continues.
"""

from __future__ import annotations

import msgspec
import numpy as np

from engine.machine.conflicts.journal import Access, Journal
from engine.machine.conflicts.shadow import AtomicOrder, Conflict, Shadow, event_of, stamp
from engine.machine.frame import Frame, Step
from engine.machine.numerics import Array, unsigned
from engine.machine.results import AccessKind, FindingKind

_SCOPED = 'an atomic with scope="cta" is not atomic for other programs'


class Touched(msgspec.Struct, frozen=True, kw_only=True):
    """The granules of shadow memory that an access touches, `per` of them a lane, and the program of each."""

    access: Access
    shadow: Shadow
    granules: Array
    programs: Array
    per: int

    @classmethod
    def by(cls, access: Access, shadow: Shadow) -> Touched:
        """Those of an access, lane by lane."""
        granules, per = shadow.granules(access.lanes.flat, access.pointers.unit, access.pointers.start)
        programs = np.repeat(access.programs(), per) if per > 1 else access.programs()
        return cls(access=access, shadow=shadow, granules=granules, programs=programs, per=per)

    def by_every_program(self) -> Touched:
        """The same by every program of the frame, if the lanes are those of one program for all of them."""
        frame, lanes = self.access.frame, self.access.lanes
        if lanes.rows != 1 or frame.count == 1:
            return self
        programs = np.repeat(frame.programs, self.granules.size)
        return msgspec.structs.replace(self, granules=np.tile(self.granules, frame.count), programs=programs)

    def lanes(self) -> Array:
        """The lane of each granule, from 0 in each program."""
        return np.resize(np.repeat(self.access.lanes.places(), self.per), self.granules.size)

    def conflict(self, order: AtomicOrder | None) -> Conflict | None:
        """Conflicts with writes of other programs that `order` does not put before this access."""
        return self.shadow.writes_of_others(self.granules, self.programs, order)


class Races:
    """Finds accesses of different programs that nothing orders.

    `tracked` are the storages that the kernel may write: reads of others can never conflict, and are not kept.  An
    atomic orders other accesses by its sem, or whatever that is if the kernel `has_barrier`.
    """

    def __init__(self, journal: Journal, *, programs: int, tracked: frozenset[int], has_barrier: bool) -> None:
        self._journal = journal
        self._order = AtomicOrder(programs=programs, has_barrier=has_barrier)
        self._tracked = tracked

    def tracks(self, place: int) -> bool:
        """Whether the kernel may write to this storage."""
        return place in self._tracked

    def order(self, frame: Frame, step: Step, event: int) -> None:
        """Let an atomic or a volatile load order the accesses before and after it, unless its scope is "cta"."""
        if not _is_of_one_program(step):
            self._order.note(frame.programs, event, sem=step.operation.attributes.get("sem"))

    def check_read(self, touched: Touched, event: int, *, writes: bool) -> None:
        """Check a load, or an atomic that `writes`, against writes of other programs; keep the readers of a load."""
        conflict = touched.conflict(self._order)
        if conflict is not None and touched.access.kind is AccessKind.ATOMIC:
            self._check_mixed(touched, conflict, writes=writes)
        elif conflict is not None:
            self._check_changed(touched, conflict)
        if not writes:
            touched.shadow.note_read(touched.granules, stamp(event, touched.programs))

    def check_write(self, touched: Touched, view: Array, written: Array) -> None:
        """Check the elements of `view` that a store is about to change to `written` against other programs."""
        writes, reads = touched.conflict(self._order), None
        if self.tracks(touched.access.place):
            reads = touched.shadow.reads_of_others(touched.granules, touched.programs, self._order)
        if writes is None and reads is None:
            return
        differs = unsigned(view[touched.access.lanes.flat]) != unsigned(written)
        for kind, conflict in ((FindingKind.WRITE_CONFLICT, writes), (FindingKind.READ_CONFLICT, reads)):
            if conflict is not None:
                self._find(kind, touched, conflict, real=differs[conflict.at // touched.per])

    def check_overwritten(self, touched: Touched, view: Array, written: Array) -> None:
        """Check for lanes of a store whose element of `view` has the value of another lane."""
        lost = np.flatnonzero(unsigned(view[touched.access.lanes.flat]) != unsigned(written))
        if lost.size == 0:
            return
        shadow, per = touched.shadow, touched.per
        assert shadow.writers is not None
        conflict = Conflict(at=lost, stamps=shadow.writers[touched.granules[::per][lost]])
        every = np.full(len(lost), True)
        self._journal.find_conflict(
            FindingKind.WRITE_CONFLICT, touched.access, touched.programs[::per], conflict, every, 1
        )

    def note_update(self, touched: Touched, event: int) -> None:
        """Record an atomic as the last write of its elements; one of scope "cta" conflicts with other programs."""
        touched.shadow.note_write(touched.granules, stamp(event, touched.programs))
        if _is_of_one_program(touched.access.step):
            conflict = touched.conflict(None)
            if conflict is not None:
                self._find_scoped(FindingKind.WRITE_CONFLICT, touched, conflict)

    def _check_changed(self, touched: Touched, conflict: Conflict) -> None:
        """Check for reads of another program's writes, unless these left the values from before the launch."""
        shadow = touched.shadow
        assert shadow.before is not None
        now, before = (_bytes_by_granule(data, shadow.granule) for data in (shadow.storage.data, shadow.before))
        at = touched.granules[conflict.at]
        self._find(FindingKind.READ_CONFLICT, touched, conflict, real=(now[at] != before[at]).any(axis=1))

    def _check_mixed(self, touched: Touched, conflict: Conflict, *, writes: bool) -> None:
        """Check for atomics on another program's plain stores; two atomics conflict by a scope of "cta" only."""
        kind = FindingKind.WRITE_CONFLICT if writes else FindingKind.READ_CONFLICT
        if _is_of_one_program(touched.access.step):
            self._find_scoped(kind, touched, conflict)
            return
        events = event_of(conflict.stamps)
        steps = {int(event): self._journal.steps[int(event)] for event in np.unique(events)}
        scoped = np.array([_is_of_one_program(steps[int(event)]) for event in events])
        plain = np.array([not steps[int(event)].operation.name.startswith("tt.atomic") for event in events])
        self._find(kind, touched, conflict, real=plain)
        self._find_scoped(kind, touched, conflict, real=scoped)

    def _find(self, kind: FindingKind, touched: Touched, conflict: Conflict, *, real: Array) -> None:
        """Record the `real` ones of the conflicts, and whether atomics with another sem would have ordered them."""
        cause = self._order.cause(touched.programs, conflict)
        self._journal.find_conflict(kind, touched.access, touched.programs, conflict, real, touched.per, cause)

    def _find_scoped(
        self, kind: FindingKind, touched: Touched, conflict: Conflict, *, real: Array | None = None
    ) -> None:
        """Record conflicts of atomics that are due to the scope of one of the two."""
        real = np.full(len(conflict.at), True) if real is None else real
        self._journal.find_conflict(kind, touched.access, touched.programs, conflict, real, touched.per, _SCOPED)


def _is_of_one_program(step: Step) -> bool:
    """Whether an atomic is of scope "cta": for other programs it is a plain access."""
    return step.operation.attributes.get("scope") == "cta"


def _bytes_by_granule(data: Array, granule: int) -> Array:
    """Bytes, a row per granule."""
    return data[: len(data) // granule * granule].reshape(-1, granule)
