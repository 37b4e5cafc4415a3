"""Record of a launch while it runs: its memory operations in order, findings, and facts of each access."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import msgspec
import numpy as np
from msgspec.structs import replace

from engine.machine.conflicts.shadow import Conflict, event_of, program_of
from engine.machine.frame import Frame, Step
from engine.machine.ir import SourceLocation
from engine.machine.lanes import Lanes
from engine.machine.memory import Storage
from engine.machine.numerics import Array
from engine.machine.results import AccessFacts, AccessKind, FindingKind, Limits, MemoryFinding
from engine.machine.values import Pointers, elements_of


class Access(msgspec.Struct, frozen=True, kw_only=True):
    """One access to one storage."""

    frame: Frame
    step: Step
    kind: AccessKind
    place: int
    storage: Storage
    pointers: Pointers
    lanes: Lanes

    def byte(self, at: int) -> int:
        """The first byte of a lane, from the start of the storage."""
        return int(self.lanes.flat[at]) * self.pointers.unit + self.pointers.start

    def programs(self) -> Array:
        """The program of each lane; of the first program only, if the access is the same for all."""
        rows = self.lanes.rows
        return self.lanes.of_rows(self.frame.programs if rows == self.frame.count else self.frame.programs[:rows])

    @property
    def block_elements(self) -> int:
        """Number of lanes per program in the block, also if the arrays are shorter."""
        operation = self.step.operation
        kinds = operation.results or operation.operands[1:2] or operation.operands[:1]
        return elements_of(kinds[0].type)


@dataclass(kw_only=True)
class _Tally:
    """The facts of one operation while the launch runs."""

    kind: AccessKind
    location: SourceLocation | None
    block_elements: int
    storages: list[str] = field(default_factory=list)
    executions: int = 0
    requested_bytes: int = 0
    distinct_bytes: int = 0
    sectors: int = 0

    def facts(self) -> AccessFacts:
        """The facts so far."""
        return AccessFacts(
            kind=self.kind,
            location=self.location,
            storages=tuple(self.storages),
            executions=self.executions,
            requested_bytes=self.requested_bytes,
            distinct_bytes=self.distinct_bytes,
            sectors=self.sectors,
        )


class Journal:
    """Findings and facts of one launch; events number its memory operations as they run.

    The launch has so many `programs`.  Unless the journal `measures`, facts have only operations and storages.
    """

    def __init__(self, limits: Limits, *, programs: int, measures: bool = True) -> None:
        self.steps: list[Step] = []
        self._measures = measures
        self._limits = limits
        self._tallies: dict[int, _Tally] = {}
        self._findings: dict[tuple[object, ...], MemoryFinding] = {}
        self._programs = programs
        self._claimants: dict[int, Array] = {}
        self._checked: dict[int, int] = {}

    @property
    def findings(self) -> tuple[MemoryFinding, ...]:
        """Findings, in the order of their first occurrence."""
        return tuple(self._findings.values())

    @property
    def facts(self) -> tuple[AccessFacts, ...]:
        """The facts of each access, in the order of its first execution."""
        return tuple(tally.facts() for tally in self._tallies.values())

    def event(self, step: Step) -> int:
        """The number of the next memory operation."""
        self.steps.append(step)
        return len(self.steps) - 1

    def note(self, finding: MemoryFinding) -> None:
        """Keep a finding that is not due to an access."""
        self._findings[(finding.kind, finding.storage, finding.detail)] = finding

    def find_conflict(
        self,
        kind: FindingKind,
        access: Access,
        programs: Array,
        conflict: Conflict,
        real: Array,
        per: int,
        detail: str = "",
    ) -> None:
        """Record a finding for each earlier operation of a conflict."""
        at, stamps = conflict.at[real], conflict.stamps[real]
        events = event_of(stamps)
        for event in np.unique(events):
            chosen = np.flatnonzero(events == event)
            first = int(at[chosen[0]])
            self.find(
                kind,
                access,
                at[chosen] // per % access.lanes.flat.size,
                program=int(programs[first]),
                other_program=int(program_of(stamps[chosen[0]])),
                other=self.steps[int(event)],
                detail=detail,
            )

    def find(
        self,
        kind: FindingKind,
        access: Access,
        at: Array,
        *,
        program: int | None = None,
        other_program: int | None = None,
        other: Step | None = None,
        detail: str = "",
    ) -> None:
        """Record a finding, or count it if the same operations were found before."""
        key = (kind, id(access.step), access.place, id(other))
        known = self._findings.get(key)
        if known is not None:
            self._findings[key] = replace(known, count=known.count + len(at))
        elif len(self._findings) < self._limits.findings or kind is FindingKind.OUT_OF_BOUNDS:
            first = int(at[0])
            self._findings[key] = MemoryFinding(
                kind=kind,
                access=access.kind,
                storage=access.storage.name,
                element=access.byte(first) // access.storage.element.bytes,
                elements=access.storage.bytes // access.storage.element.bytes,
                program=int(access.programs()[first]) if program is None else program,
                location=access.step.operation.location,
                other_program=other_program,
                other_location=None if other is None else other.operation.location,
                count=len(at),
                detail=detail,
            )

    def find_claim(self, kind: FindingKind, step: Step, programs: Array, detail: str) -> None:
        """Record a false claim of these programs, or count them if it was found before; each program counts once."""
        known_programs = self._claimants.get(id(step))
        if known_programs is None:
            known_programs = self._claimants[id(step)] = np.zeros(self._programs, np.bool_)
        programs = programs[~known_programs[programs]]
        known_programs[programs] = True
        if not programs.size:
            return
        key, first = (kind, id(step)), int(programs.min())
        known = self._findings.get(key)
        if known is not None:
            self._findings[key] = replace(known, program=min(known.program, first), count=known.count + len(programs))
        elif len(self._findings) < self._limits.findings:
            self._findings[key] = MemoryFinding(
                kind=kind,
                access=AccessKind.LOAD,
                storage="",
                element=0,
                elements=0,
                program=first,
                location=step.operation.location,
                count=len(programs),
                detail=detail,
            )

    def needs_check(self, frame: Frame, step: Step) -> bool:
        """Whether to check the hints of an operation now; true once for each chunk until one is found to be false."""
        first = int(frame.programs[0])
        if id(step) in self._claimants or self._checked.get(id(step)) == first:
            return False
        self._checked[id(step)] = first
        return True

    def tally(self, access: Access) -> None:
        """Add an access to the facts of its operation."""
        step, name = access.step, access.storage.name
        known = self._tallies.get(id(step))
        if known is None:
            known = self._tallies[id(step)] = _Tally(
                kind=access.kind, location=step.operation.location, block_elements=access.block_elements
            )
        if name not in known.storages:
            known.storages.append(name)
        if not self._measures:
            return
        lanes, unit = access.lanes, access.pointers.unit
        times = access.frame.count if lanes.rows == 1 else 1
        repeats = max(1, known.block_elements // max(1, math.prod(lanes.shape[1:])))
        elements, sectors = lanes.distinct(unit, access.storage.base + access.pointers.start)
        known.executions += access.frame.count
        known.requested_bytes += lanes.flat.size * unit * times * repeats
        known.distinct_bytes += elements * unit * times
        known.sectors += sectors * times
