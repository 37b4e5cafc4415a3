"""Proven tapes are executed on the machine, one for each specialisation; what it finds becomes findings of the run."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
from msgspec.structs import replace

from engine import protocol
from engine.model import (
    Case,
    CaseResult,
    DType,
    Finding,
    Limits,
    Location,
    Outcome,
    OutOfBounds,
    ProblemId,
    Severity,
    Tier,
)
from engine.model.layers import Coverage, Fact, Layer, LayerReport
from engine.probes.lab.case_session import Lab, PassedCase
from engine.profile import Profile
from engine.protocol.executing import MemoryFault, MemoryReport, ProgramAccess
from engine.protocol.verifying import ContentDigests
from engine.run.event_stream import EventEmitter
from engine.run.proving.kernels import LoweredKernel
from engine.run.proving.memory_check import MemoryCheck
from engine.run.proving.proof_of_tape import TapedCase
from engine.run.proving.proof_record import ProofRecord
from tests.engine.replay.tapes import launched, tape, vector

if TYPE_CHECKING:
    from tests.engine.conftest import Employ

TAPE = tape(launched(vector(0), vector(1)))
PROBLEM = ProblemId(source="m", name="P")
WORK = {"small": 10, "middle": 20, "large": 30, "huge": 1 << 25}
ACCESS = ProgramAccess(access="load", program=(0, 0, 0), line=7)
EXCHANGE = MemoryReport(
    fault=MemoryFault.UNORDERED_WARPS, kernel="k", tensor="y", index=64, elements=128, count=2, access=ACCESS,
    other=ProgramAccess(access="access", program=(0, 0, 0), line=5),
)  # fmt: skip
RACE = (
    "race in k: y[64] is stored at line 5 and loaded at line 7 by different warps of program (0, 0, 0) "
    "without tl.debug_barrier() between (2 elements)"
)
RIGHT = protocol.MemoryChecked(id="")
OUTSIDE = OutOfBounds(
    access="load", kernel="k", tensor="x", index=6, elements=6, program=(1, 0, 0), location=Location(line=9)
)


def passed(name: str) -> PassedCase:
    case = Case(name=name, dtype=DType.FLOAT32, tier=Tier.SMOKE, params={})
    result = CaseResult(case=name, tier=Tier.SMOKE, outcome=Outcome.PASS, elapsed_s=0.0, calls=2, seed=1, outputs=())
    return PassedCase(case=case, result=result, launches=())


def record_of(**kernels: tuple[str, ...]) -> ProofRecord:
    """The proofs of cases with these kernels."""
    record = ProofRecord()
    digests = ContentDigests(inputs="a", expected="b", outputs="c")
    for name, names in kernels.items():
        held = tuple(LoweredKernel(name=one, ttir=f"module of {one}", arguments=("x",)) for one in names)
        taped = TapedCase(case=passed(name).case, tape=TAPE, kernels=held)
        record.add(taped, seed=5, digests=digests)
    return record


class Checked:
    """One check by processes that answer with `reply`, after as many `failures`."""

    def __init__(
        self, employ: Employ, record: ProofRecord, reply: protocol.AnyReply = RIGHT, *, failures: int = 0
    ) -> None:
        self.commands: list[protocol.AnyCommand] = []
        self._reply = reply
        self._failures = failures
        _, self.pool = employ(self._answer, target="sm_90")
        self.emitter = EventEmitter(lambda: 0.0, started=0.0)
        lab = SimpleNamespace(
            passed=[passed(name) for name in reversed(WORK)], size_of=lambda case: WORK[case.name],
            process_pool=self.pool, problem=SimpleNamespace(id=PROBLEM), limits=Limits(),
            profile=Profile(lambda: 0.0, started=0.0),
        )  # fmt: skip
        self.check = MemoryCheck(lab=cast("Lab", lab), record=record, emitter=self.emitter, target="sm_90")

    def _answer(self, kind: str, command: protocol.AnyCommand) -> protocol.AnyReply | bytes:
        if isinstance(command, protocol.Prepare):
            arena = protocol.ArenaSpec(storages=(), bytes=0, path=command.arena_path or "")
            self.commands.append(command)
            return protocol.Prepared(id=command.id, arguments=(), arena=arena, elapsed_s=0.0)
        if not isinstance(command, protocol.CheckMemory | protocol.HoldKernel):
            return protocol.Done(id=command.id)
        self.commands.append(command)
        if isinstance(command, protocol.HoldKernel):
            return protocol.Done(id=command.id)
        if self._failures:
            self._failures -= 1
            return b"noise\n"
        return replace(self._reply, id=command.id)

    async def run(self) -> tuple[list[Finding], LayerReport]:
        await self.check.run()
        (report,) = self.emitter.layers
        return self.emitter.findings, report

    def of(self, kind: type[protocol.AnyCommand]) -> list[protocol.AnyCommand]:
        return [command for command in self.commands if isinstance(command, kind)]


async def test_smallest_case_of_each_specialisation_is_executed(employ: Employ) -> None:
    made = Checked(employ, record_of(small=("a",), middle=("a",), large=("a", "b"), huge=("c",)))
    findings, report = await made.run()
    facts = (Fact(name="cases on the machine", value="2 cases"), Fact(name="specialisations", value="2 of 3"))
    assert (findings, report) == (
        [], LayerReport(layer=Layer.BEHAVIOUR, by="memory", coverage=Coverage.CHECKED, facts=facts)
    )  # fmt: skip
    prepared = [command for command in made.commands if isinstance(command, protocol.Prepare)]
    assert [(command.case, command.seed) for command in prepared] == [("small", 5), ("large", 5)]
    held = [command.name for command in made.commands if isinstance(command, protocol.HoldKernel)]
    assert held == ["a", "b"]
    checks = [command for command in made.commands if isinstance(command, protocol.CheckMemory)]
    assert [(command.kernels, command.warp_threads) for command in checks] == [(("a",), 32), (("a", "b"), 32)]


async def test_inputs_are_in_a_file_also_where_memory_of_the_device_is_shared(employ: Employ) -> None:
    made = Checked(employ, record_of(small=("a",)))
    assert made.pool.shares_device
    await made.run()
    (prepare,) = made.of(protocol.Prepare)
    (check,) = made.of(protocol.CheckMemory)
    assert isinstance(prepare, protocol.Prepare)
    assert isinstance(check, protocol.CheckMemory)
    assert prepare.arena_path == check.arena.path != ""


async def test_race_is_a_proof_and_is_found_once(employ: Employ) -> None:
    made = Checked(employ, record_of(small=("a",), middle=("b",)), protocol.MemoryChecked(id="", memory=(EXCHANGE,)))
    findings, report = await made.run()
    assert findings == [
        Finding(check="race", severity=Severity.PROOF, message=RACE, case="small", location=Location(line=7))
    ]
    assert report.coverage is Coverage.CHECKED


async def test_access_out_of_bounds_is_a_proof(employ: Employ) -> None:
    stopped = protocol.MemoryChecked(id="", stopped="out of bounds", out_of_bounds=OUTSIDE)
    findings, _ = await Checked(employ, record_of(small=("a",)), stopped).run()
    message = "out-of-bounds load in k: x[6], but x has 6 elements (program (1, 0, 0))"
    assert findings == [
        Finding(
            check="memory_access", severity=Severity.PROOF, message=message, case="small", location=Location(line=9)
        )
    ]


async def test_failed_process_is_replaced_and_gets_the_kernels_again(employ: Employ) -> None:
    made = Checked(employ, record_of(small=("a",), middle=("b",)), failures=1)
    findings, report = await made.run()
    assert (findings, report.coverage) == ([], Coverage.CHECKED)
    held = [command.name for command in made.commands if isinstance(command, protocol.HoldKernel)]
    assert held == ["a", "a", "b"]


async def test_stopped_launch_without_an_access_is_a_proof(employ: Employ) -> None:
    stopped = protocol.MemoryChecked(id="", stopped="k: device assertion failed")
    findings, _ = await Checked(employ, record_of(small=("a",)), stopped).run()
    assert [(one.severity, one.message) for one in findings] == [(Severity.PROOF, "k: device assertion failed")]


@pytest.mark.parametrize(
    ("kind", "coverage", "why"),
    [
        (protocol.FailureKind.UNSUPPORTED, Coverage.NOT_AVAILABLE, "small: no"),
        (protocol.FailureKind.RAISED, Coverage.NOT_AVAILABLE, "small: no"),
        (protocol.FailureKind.ENGINE, Coverage.ENGINE_FAILED, "the machine could not execute the launches: no"),
    ],
)
async def test_case_that_is_not_executed_is_reported(
    employ: Employ, kind: protocol.FailureKind, coverage: Coverage, why: str
) -> None:
    failed = protocol.Failed(id="", kind=kind, message="no")
    findings, report = await Checked(employ, record_of(small=("a",)), failed).run()
    assert (findings, report.coverage, report.why) == ([], coverage, why)


@pytest.mark.parametrize("record", [record_of(), record_of(huge=("c",))], ids=["none proven", "too large"])
async def test_without_a_small_proven_case_nothing_is_checked(employ: Employ, record: ProofRecord) -> None:
    made = Checked(employ, record)
    findings, report = await made.run()
    assert (findings, report.coverage) == ([], Coverage.NOT_AVAILABLE)
    assert report.why == "no proven case is small enough to be executed on the machine"
    assert made.commands == []
