"""Loads, stores and atomics of a launch: exact bounds, shadow memory of reads and writes, and facts of each access.

An access out of bounds, or a failing device assertion, stops the launch and undoes its writes.  Everything else is
recorded, and execution continues.  When two lanes of a store write one element, the later lane wins, and of programs
the later one.
"""

from __future__ import annotations

import numpy as np

from engine.errors import UnsupportedError
from engine.machine.conflicts.checks import ConflictChecks
from engine.machine.conflicts.exchanges import Exchanges
from engine.machine.conflicts.journal import Access, Journal
from engine.machine.conflicts.races import Races, Touched
from engine.machine.conflicts.shadow import Shadow, stamp
from engine.machine.frame import Frame, Step, Update
from engine.machine.ir import Scalar
from engine.machine.lanes import Lanes, common_shape, is_increasing
from engine.machine.memory import Memory, Storage
from engine.machine.numerics import Array, dtype_of, unsigned
from engine.machine.results import AccessKind, FindingKind, Limits, MemoryFinding
from engine.machine.values import NOWHERE, Pointers, Val, scalar_of

_NO_STORAGE = Storage(name="", data=np.zeros(0, np.uint8), base=0, element=Scalar.I8)


class StopLaunchError(Exception):
    """A finding ended the launch; it is the last one of the launch."""


class Accesses:
    """The memory of one launch while it runs; `checks` are the conflicts to look for."""

    def __init__(
        self,
        memory: Memory,
        limits: Limits,
        *,
        programs: int,
        checks: ConflictChecks,
        measures: bool = True,
    ) -> None:
        self._memory = memory
        self.journal = Journal(limits, programs=programs, measures=measures)
        self.changes = 0
        self._shadows: dict[int, Shadow] = {}
        self._views: dict[tuple[object, ...], Array] = {}
        self._races = Races(self.journal, programs=programs, tracked=checks.written, has_barrier=checks.has_barrier)
        self._exchanges = Exchanges(
            self.journal, programs=programs, watched=checks.written & checks.read, warps=checks.warps
        )

    def restore(self) -> None:
        """Undo the writes of the launch."""
        for shadow in self._shadows.values():
            shadow.restore()

    def commit(self) -> None:
        """Keep the writes of the launch."""
        for shadow in self._shadows.values():
            shadow.commit()

    def locate(self, addresses: Array) -> int | Array:
        """The storages of absolute addresses."""
        return self._memory.locate(addresses)

    def bases(self, origin: int | Array) -> int | Array:
        """The addresses at which storages begin."""
        return self._memory.bases(origin)

    def load(self, frame: Frame, step: Step, pointers: Val, mask: Array | None, other: Array | None) -> Array:
        """The elements at `pointers`; `other`, or 0, where the mask is false."""
        assert isinstance(pointers, Pointers)
        event = self.journal.event(step)
        if step.operation.attributes.get("isVolatile"):
            self._races.order(frame, step, event)
        dtype = dtype_of(scalar_of(step.operation.results[0].type))
        result = other
        for place, chosen in _origins(pointers, mask):
            access = self._access(frame, step, AccessKind.LOAD, pointers, chosen, place=place)
            values = self._view(access, dtype)[access.lanes.flat]
            self._check_read(access, event)
            self.journal.tally(access)
            result = access.lanes.spread(values != 0 if dtype == np.bool_ else values, result)
        assert result is not None
        return result

    def store(self, frame: Frame, step: Step, pointers: Val, values: Array, mask: Array | None) -> None:
        """Write elements."""
        assert isinstance(pointers, Pointers)
        event = self.journal.event(step)
        for place, chosen in _origins(pointers, mask):
            access = self._access(
                frame, step, AccessKind.STORE, pointers, chosen, place=place, like=(frame.count, *values.shape[1:])
            )
            lanes = access.lanes
            written = lanes.pick(values)
            view = self._view(access, written.dtype)
            shadow = self._shadow(place)
            shadow.save()
            self.changes += 1
            touched = Touched.by(access, shadow)
            self._races.check_write(touched, view, written)
            if self._exchanges.watches(place):
                self._exchanges.check_store(touched, event, view, written)
            view[lanes.flat] = written.view(view.dtype)
            shadow.note_write(touched.granules, stamp(event, touched.programs))
            if not is_increasing(lanes.flat):
                self._races.check_overwritten(touched, view, written)
            self.journal.tally(access)

    def update(self, frame: Frame, step: Step, pointers: Val, update: Update, mask: Array | None) -> Array:
        """Read, change and write elements, one program after the other; the values before, 0 where masked."""
        assert isinstance(pointers, Pointers)
        event = self.journal.event(step)
        self._races.order(frame, step, event)
        shape = np.broadcast_shapes((frame.count,), (1,))
        result: Array | None = None
        for place, chosen in _origins(pointers, mask):
            shape = np.broadcast_shapes(*((frame.count, *part.shape[1:]) for part in update.operands))
            access = self._access(frame, step, AccessKind.ATOMIC, pointers, chosen, place=place, like=shape)
            operands = tuple(access.lanes.pick(part) for part in update.operands)
            view = self._view(access, operands[0].dtype)
            self._check_read(access, event, reads=update.reads, writes=update.writes)
            if update.writes:
                self._shadow(place).save()
                before = self._apply(frame, step, view, access.lanes.flat, update, operands)
                self._races.note_update(Touched.by(access, self._shadow(place)), event)
            else:
                before = view[access.lanes.flat].view(operands[0].dtype)
            self.journal.tally(access)
            result = access.lanes.spread(before, result)
        assert result is not None
        return result

    def fail(self, frame: Frame, step: Step, failing: Array, message: str) -> None:
        """Stop the launch because of a device assertion.

        Raises:
            StopLaunchError: always.
        """
        finding = MemoryFinding(
            kind=FindingKind.ASSERTION,
            access=AccessKind.LOAD,
            storage="",
            element=0,
            elements=0,
            program=int(frame.programs[failing[0]] if len(failing) else frame.programs[0]),
            location=step.operation.location,
            detail=message,
        )
        self.journal.note(finding)
        raise StopLaunchError

    def find_claim(self, kind: FindingKind, frame: Frame, step: Step, failing: Array, detail: str = "") -> None:
        """Record a claim that is false in the programs at places `failing`; each program counts once."""
        self.journal.find_claim(kind, step, frame.programs[failing], detail)

    def synchronize(self, frame: Frame) -> None:
        """Order the accesses of each program of the frame before and after this point."""
        self._exchanges.synchronize(frame.programs)

    def needs_check(self, frame: Frame, step: Step) -> bool:
        """Whether to check the hints of an operation now; true once for each chunk until one is found to be false."""
        return self.journal.needs_check(frame, step)

    def _apply(
        self, frame: Frame, step: Step, view: Array, flat: Array, update: Update, operands: tuple[Array, ...]
    ) -> Array:
        """Update elements in the order of lanes: all first occurrences of an element, then all second ones, ..."""
        if not update.needs_old and update.shortcut is not None:
            update.shortcut(view, flat, operands)
            self.changes += 1
            return np.zeros(flat.shape, operands[0].dtype)
        before = np.empty(flat.shape, operands[0].dtype)
        for turn in _turns(flat):
            frame.meter.work(1, step.operation)
            chosen = flat[turn]
            old = view[chosen].view(before.dtype)
            before[turn] = old
            new = update.apply(old, *(part[turn] for part in operands)).view(view.dtype)
            self.changes += not np.array_equal(unsigned(new), unsigned(old))
            view[chosen] = new
        return before

    def _shadow(self, place: int) -> Shadow:
        if place == NOWHERE:
            return Shadow.of(_NO_STORAGE)
        if place not in self._shadows:
            self._shadows[place] = Shadow.of(self._memory.storages[place])
        return self._shadows[place]

    def _access(
        self,
        frame: Frame,
        step: Step,
        kind: AccessKind,
        pointers: Pointers,
        mask: Array | None,
        *,
        place: int,
        like: tuple[int, ...] = (),
    ) -> Access:
        """The active lanes, checked against the bounds of the storage."""
        shapes = [part.shape for part in (pointers.index, mask) if part is not None]
        shape = common_shape(*shapes, *((like,) if like else ()))
        lanes = Lanes.of(pointers.index, mask, shape)
        storage = _NO_STORAGE if place == NOWHERE else self._memory.storages[place]
        access = Access(frame=frame, step=step, kind=kind, place=place, storage=storage, pointers=pointers, lanes=lanes)
        length = max(0, storage.bytes - pointers.start) // pointers.unit
        if lanes.flat.size and int(lanes.flat.view(np.uint64).max()) >= length:
            self._stop_out_of_bounds(access, np.flatnonzero((lanes.flat < 0) | (lanes.flat >= length)))
        if (storage.base + pointers.start) % pointers.unit and lanes.flat.size:
            self.journal.find(FindingKind.MISALIGNED, access, np.zeros(1, np.int64), detail=_alignment(access))
        return access

    def _view(self, access: Access, dtype: np.dtype[np.generic]) -> Array:
        """The storage as elements of the access, from its first byte."""
        start, unit = access.pointers.start, access.pointers.unit
        key = (access.place, start, unit, dtype)
        view = self._views.get(key)
        if view is None:
            length = max(0, access.storage.bytes - start) // unit
            held = np.dtype(np.uint8) if dtype == np.bool_ else dtype
            if held.itemsize != unit:
                raise UnsupportedError(f"an element of {held.itemsize} bytes at a pointer to {unit} bytes")
            view = self._views[key] = access.storage.data[start : start + length * unit].view(held)
        return view

    def _check_read(self, access: Access, event: int, *, reads: bool = True, writes: bool = False) -> None:
        """Check for unwritten bytes and writes of other programs; keeps the readers of storages that may be written.

        An atomic that `writes` replaces them, and one that does not read has no need for written bytes.
        """
        storage, place = access.storage, access.place
        if place == NOWHERE or (storage.written is None and not self._races.tracks(place)):
            return
        touched = Touched.by(access, self._shadow(place))
        missing = touched.shadow.unwritten(touched.granules) if reads else None
        if missing is not None:
            self.journal.find(FindingKind.UNINITIALIZED, access, missing // touched.per)
        if self._races.tracks(place):
            every = touched.by_every_program()
            self._races.check_read(every, event, writes=writes)
            if access.kind is AccessKind.LOAD and self._exchanges.watches(place):
                self._exchanges.check_load(every, event)

    def _stop_out_of_bounds(self, access: Access, bad: Array) -> None:
        detail = f"address {access.byte(int(bad[0])):#x} belongs to no tensor" if access.place == NOWHERE else ""
        self.journal.find(FindingKind.OUT_OF_BOUNDS, access, bad, detail=detail)
        raise StopLaunchError


def _origins(pointers: Pointers, mask: Array | None) -> list[tuple[int, Array | None]]:
    """Each storage of the pointers, with the mask of its lanes; lanes of no storage come first."""
    if isinstance(pointers.origin, int):
        return [(pointers.origin, mask)]
    origins = pointers.origin
    if mask is not None:
        origins, mask = np.broadcast_arrays(origins, mask)
    active = origins if mask is None else origins[mask]
    found = [int(place) for place in np.unique(active)] or [int(origins.flat[0])]
    return [(place, (origins == place) if mask is None else (origins == place) & mask) for place in found]


def _turns(flat: Array) -> list[Array]:
    """Groups of positions in which no index occurs twice: the first occurrence of each index, then the second, ..."""
    if flat.size < 2 or is_increasing(flat):
        return [np.arange(flat.size)]
    order = np.argsort(flat, kind="stable")
    ordered = flat[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    lengths = np.diff(np.append(starts, flat.size))
    ranks = np.arange(flat.size) - np.repeat(starts, lengths)
    by_rank = np.argsort(ranks, kind="stable")
    cuts = np.cumsum(np.bincount(ranks))[:-1]
    return [order[part] for part in np.split(by_rank, cuts)]


def _alignment(access: Access) -> str:
    address = access.storage.base + access.byte(0)
    return f"address {address:#x} is not a multiple of {access.pointers.unit} bytes"
