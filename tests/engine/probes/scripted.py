"""A lab whose calls are scripted: what each probe that calls again makes of the judge's counts."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import cast

from engine import protocol
from engine.draws import Draws
from engine.model import (
    Case,
    CaseResult,
    Cost,
    DType,
    Finding,
    Launch,
    Limits,
    Outcome,
    OutputReport,
    Problem,
    ProblemDefinition,
    Tier,
    Tolerance,
)
from engine.model.layers import LayerReport
from engine.probes import Observation
from engine.probes.lab.case_session import NEW_CONTENT, CallContent, CallResult, Lab, PassedCase

ARENA = protocol.ArenaSpec(path="/nowhere", storages=(), bytes=256)


@dataclass(frozen=True, kw_only=True)
class Called:
    """One call that a probe had made."""

    case: str
    fresh: bool
    program_order: protocol.ProgramOrder | None
    watch: protocol.Watch | None


@dataclass(frozen=True, kw_only=True)
class Came:
    """Result of a call, or of a second reading: how many of 1000 elements are wrong and changed, or the trouble."""

    wrong: int = 0
    changed: int = 0
    trouble: str = ""
    silent: bool = False
    race: protocol.Race | None = None


Script = Callable[[Called | protocol.RepeatOutputs, int], Came]
"""From a call, or a second reading, and how many were made before it, to its result."""


def never(*_: object) -> object:
    raise AssertionError("the parent makes no tensors")


def passed(name: str, *grids: tuple[int, ...], size: int = 1, elements: int = 1000, **changes: object) -> PassedCase:
    """A case that was right, with a launch of one kernel for each of these grids."""
    one = Case(
        name=name,
        dtype=cast(DType, changes.get("dtype", DType.FLOAT32)),
        tier=Tier.SMOKE,
        params={
            "size": size,
            "room": cast(int, changes.get("room", 1)),
        },
    )
    report = OutputReport(name="return", outcome=Outcome.PASS, total=elements)
    calls = cast(int, changes.get("calls", 3))  # cast: as above
    result = CaseResult(
        case=name, tier=Tier.SMOKE, outcome=Outcome.PASS, elapsed_s=0.1, calls=calls, seed=1, outputs=(report,)
    )
    launches = tuple(
        Launch(kernel="k", line=2, signature={}, constants={}, divisible_by_16=(), num_warps=4, num_stages=3, grid=grid)
        for grid in grids
    )
    return PassedCase(case=one, result=result, launches=launches)


@dataclass(kw_only=True)
class ScriptedLab:
    """Stands for a Lab; `called` are the calls that were made, `precisions` what the judge says of precision in turn.

    What is `ordered` has one program in every grid.  In cases that are `idle` nothing is to be written.
    """

    passed: Sequence[PassedCase]
    script: Script = lambda called, number: Came()
    precisions: list[tuple[protocol.OutputPrecision, ...]] = field(default_factory=list)
    interpreted: bool = True
    ordered: bool = False
    idle: frozenset[str] = frozenset()
    place: int = 0
    called: list[Called] = field(default_factory=list)
    repeated_outputs: list[float] = field(default_factory=list)
    limits: Limits = field(default_factory=Limits)
    came: Came = field(default_factory=Came)
    draws: Draws = field(default_factory=Draws)
    proven: frozenset[str] = frozenset()
    reported: tuple[Finding, ...] = ()
    torch_lines: set[int] = field(default_factory=set)

    @property
    def process_pool(self) -> object:
        return SimpleNamespace(interpreted=self.interpreted, ask_judge=self.ask_judge)

    @property
    def problem(self) -> Problem:
        return ProblemDefinition(
            name="toy::f",
            entry="f",
            signature="f(x: Tensor) -> Tensor",
            summary="",
            category="toy",
            cases=tuple(one.case for one in self.passed),
            mutates=("x",),
            make_inputs=never,
            reference=never,
            eager=never,  # type: ignore[arg-type]  # never called
            tolerance=lambda case: Tolerance(relative=float(case.size("room")), absolute=0.0),
            cost=lambda case: Cost(flops=case.size("size"), bytes_read=0, bytes_written=0),
        ).problem("toy_problems")

    @property
    def is_proven(self) -> bool:
        return self.proven.issuperset(one.case.name for one in self.passed)

    def size_of(self, case: Case) -> int:
        return case.size("size")

    @contextlib.asynccontextmanager
    async def at(self, case: Case) -> AsyncIterator[ScriptedSession]:
        spec = protocol.TensorSpec(storage=0, dtype="float32", shape=(1000,), strides=(1,), first=0)
        prepared = protocol.Prepared(id="p", arguments=(spec,), arena=ARENA, elapsed_s=0.0, idle=case.name in self.idle)
        yield ScriptedSession(lab=self, case=case, prepared=prepared)

    async def ask(self, command: protocol.AnyCommand) -> protocol.AnyReply:
        assert isinstance(command, protocol.RepeatOutputs)
        self.repeated_outputs.append(command.pause_s)
        self.came = self.script(command, len(self.called))
        if self.came.trouble:
            return protocol.Failed(id=command.id, kind=protocol.FailureKind.RAISED, message=self.came.trouble)
        return protocol.OutputsRepeated(id=command.id, returned=())

    async def ask_judge(self, command: protocol.AnyCommand) -> protocol.AnyReply:
        if isinstance(command, protocol.MeasurePrecision):
            return protocol.PrecisionMeasured(id=command.id, outputs=self.precisions.pop(0))
        assert isinstance(command, protocol.CompareReading)
        came = self.came
        output = protocol.Difference(name="return", total=1000, right=1000 - came.wrong, changed=came.changed)
        return protocol.ReadingCompared(id=command.id, outputs=(output,))


@dataclass(frozen=True, kw_only=True)
class ScriptedSession:
    """Stands for one case laid out."""

    lab: ScriptedLab
    case: Case
    prepared: protocol.Prepared
    outputs: str = "/nowhere"

    async def make(
        self,
        *,
        poison: int,
        content: CallContent = NEW_CONTENT,
        program_order: protocol.ProgramOrder | None = None,
        watch: protocol.Watch | None = None,
    ) -> protocol.Called | CallResult:
        lab = self.lab
        call = Called(case=self.case.name, fresh=content.fresh, program_order=program_order, watch=watch)
        lab.came = came = lab.script(call, len(lab.called))
        lab.called.append(call)
        if came.trouble:
            return CallResult(trouble=came.trouble, silent=came.silent)
        launches = int(program_order is not None and lab.interpreted and not lab.ordered)
        return protocol.Called(id="c", returned=(), launches=(), elapsed_s=0.0, reordered=launches, race=came.race)


Probe = Callable[[Lab], AsyncIterator[Observation]]


async def observed(probe: Probe, lab: ScriptedLab) -> tuple[list[Finding], LayerReport]:
    """The findings of a probe, and its one report."""
    seen = [observation async for observation in probe(cast(Lab, lab))]  # cast: the double at the seam
    *findings, report = seen
    assert isinstance(report, LayerReport)
    assert all(isinstance(finding, Finding) for finding in findings)
    return cast(list[Finding], findings), report  # cast: asserted above
