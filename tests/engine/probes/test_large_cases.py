"""Findings and coverage of the calls on cases for timing; the calls are scripted here."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from engine import protocol
from engine.draws import Draws
from engine.model import Case, Cost, DType, Finding, Launch, Outcome, OutputReport, Problem, Severity, Tier, Tolerance
from engine.model.layers import Coverage, LayerReport
from engine.model.proof import CaseProof, Gap
from engine.probes import large_cases
from engine.probes.lab.case_session import CallContent, CallResult, PassedCase
from engine.protocol.executing import Executed, MemoryFault, MemoryReport, ProgramAccess
from engine.protocol.proof.tape import (
    Given,
    HostRead,
    Launched,
    Tape,
    TapedArgument,
    TapedStorage,
    TapedView,
)
from tests.engine.probes.scripted import ScriptedLab, observed, passed

MIB = 1 << 20
CALLED = protocol.Called(id="c", returned=(), launches=(), elapsed_s=0.0)
RIGHT = protocol.Compared(id="c", reports=(), repeated=None, mutated=None)
TOLERANCE = Tolerance(relative=0.0, absolute=0.0)
COSINE = protocol.OperatorSeen(
    name="aten::cos",
    kind=protocol.OperatorKind.COMPUTE,
    case="timed",
    reads_inputs=True,
    uses=1,
    largest_in=MIB,
    largest_out=MIB,
    total_in=MIB,
    total_out=MIB,
)


def timed(name: str = "timed", *, size: int = 4 * MIB) -> Case:
    return Case(name=name, dtype=DType.FLOAT32, tier=Tier.BENCH, params={"size": size})


@dataclass(kw_only=True)
class TimedLab(ScriptedLab):
    """Stands for a Lab whose problem has cases for timing; `operators` are those of the call without launches.

    `tape` is that of this call.  `executed` is what comes of the call with launches, `compared` of the comparison of
    its outputs, and `proof` of the replay of its tape.
    """

    timed: tuple[Case, ...] = (timed(),)
    operators: tuple[protocol.OperatorSeen, ...] = ()
    unchecked: tuple[str, ...] = ()
    trouble: str = ""
    lost: bool = False
    executed: protocol.Called | CallResult = CALLED
    compared: protocol.Compared | str = RIGHT
    asked: list[tuple[str, bool, protocol.Withhold | None]] = field(default_factory=list)
    executions: list[str] = field(default_factory=list)
    proof: CaseProof | None = None
    taped: list[str] = field(default_factory=list)
    tape: Tape | None = None

    @property
    def prove(self) -> Callable[[PassedCase, Path], Awaitable[CaseProof]] | None:
        return None if self.proof is None else self._prove

    async def _prove(self, one: PassedCase, recorded: Path) -> CaseProof:
        assert self.proof is not None
        self.taped.append(f"{one.case.name}, {one.elements} elements, {recorded}")
        return self.proof

    @property
    def problem(self) -> Problem:
        scripted = super().problem
        costs = {
            case.name: Cost(flops=1, bytes_read=case.size("size"), bytes_written=case.size("size"))
            for case in self.timed
        }
        return replace(
            scripted,
            cases=(*scripted.cases, *self.timed),
            cost_by_case={**scripted.cost_by_case, **costs},
            tolerance_by_case={**scripted.tolerance_by_case, **dict.fromkeys(costs, TOLERANCE)},
        )

    def size_of(self, case: Case) -> int:
        return 2 * super().size_of(case)

    @contextlib.asynccontextmanager
    async def at(self, case: Case) -> AsyncIterator[TimedBench]:  # type: ignore[override]  # another bench
        yield TimedBench(lab=self, name=case.name)

    async def ask(self, command: protocol.AnyCommand) -> protocol.AnyReply:
        assert isinstance(command, protocol.Observe)
        return protocol.Observed(id=command.id, operators=self.operators, unchecked=self.unchecked)


@dataclass(frozen=True, kw_only=True)
class TimedBench:
    """Stands for one case laid out."""

    lab: TimedLab
    name: str

    @property
    def outputs(self) -> Path:
        return Path(f"{self.name}.out")

    async def make(
        self, *, poison: int, content: CallContent, withhold: protocol.Withhold | None = None, observe: bool = False,
        tape: Path | None = None,
    ) -> protocol.Called | CallResult:  # fmt: skip
        if withhold is None:
            self.lab.executions.append(self.name)
            return self.lab.executed
        self.lab.asked.append((self.name, observe, withhold))
        if tape is not None and self.lab.tape is not None:
            tape.write_bytes(msgspec.json.encode(self.lab.tape))
        if self.lab.trouble:
            return CallResult(trouble=self.lab.trouble, lost=self.lab.lost)
        return CALLED

    async def compare(self, returned: protocol.Returned) -> protocol.Compared | str:
        return self.lab.compared


async def reported(lab: TimedLab) -> tuple[list[Finding], LayerReport]:
    return await observed(large_cases.probe, lab)


async def test_torch_in_a_case_for_timing_is_suspect() -> None:
    lab = TimedLab(passed=[passed("small")], operators=(COSINE,))
    (finding,), report = await reported(lab)
    assert (finding.check, finding.severity, finding.case) == ("large_cases", Severity.SUSPECT, "timed")
    assert finding.message == "computed by torch: aten::cos once, up to 1,048,576 elements (1 case)"
    assert report.coverage is Coverage.CHECKED
    assert lab.asked == [("timed", True, protocol.Withhold())]


LAUNCH = Launch(
    kernel="k", line=2, signature={}, constants={}, divisible_by_16=(), num_warps=4, num_stages=3, grid=(1, 1, 1)
)


def recorded(*, gets: int, reads: int = 0, unknown: bool = False, incomplete: str = "") -> Tape:
    """A call that computes a cosine of the argument, storage 0, in storage 1; its launch gets storage `gets`."""
    views = [
        TapedView(storage=number, dtype="float32", offset_bytes=0, shape=(4,), strides=(1,)) for number in range(4)
    ]
    arguments = (TapedArgument(name="x", value=views[gets]), TapedArgument(name="y", value=views[2]))
    made = (Given(storage=1, reads=(0,), operator="aten::cos", line=7), Given(storage=3, data=bytes(16)))
    return Tape(
        storages=(TapedStorage(bytes=16, argument=0), *(TapedStorage(bytes=16),) * 3),
        specialisations=(LAUNCH,),
        steps=(*made, Launched(specialisation=0, grid=(1, 1, 1), arguments=arguments)),
        returned=(views[3] if unknown else views[2],),
        reads=(HostRead(operator="aten::item", line=8),) * reads,
        incomplete=incomplete,
    )


@pytest.mark.parametrize(
    ("tape", "size", "is_flagged"),
    [
        (recorded(gets=0), 4 * MIB, False),
        (recorded(gets=0, reads=1), 4 * MIB, False),
        (recorded(gets=1), 4 * MIB, True),
        (recorded(gets=0, reads=64), 4096, True),
        (recorded(gets=0, reads=1, unknown=True), 4 * MIB, True),
        (recorded(gets=0, incomplete="too much"), 4 * MIB, True),
        (None, 4 * MIB, True),
    ],
    ids=["unused", "a check", "a kernel gets it", "small answer", "unknown memory", "incomplete", "no tape"],
)
async def test_torch_beside_the_answer_of_proven_kernels_is_left_alone(
    tape: Tape | None, size: int, is_flagged: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lab = TimedLab(
        passed=[passed("small")], proven=frozenset({"small"}), operators=(COSINE,), tape=tape, timed=(timed(size=size),)
    )
    findings, _ = await reported(lab)
    assert [finding.check for finding in findings] == ["large_cases"] * is_flagged
    assert not any(tmp_path.iterdir())


async def test_torch_in_a_case_for_timing_counts_without_a_proof(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    findings, _ = await reported(TimedLab(passed=[passed("small")], operators=(COSINE,), tape=recorded(gets=0)))
    assert [finding.check for finding in findings] == ["large_cases"]


async def test_operators_of_other_cases_are_ignored() -> None:
    earlier = msgspec.structs.replace(COSINE, case="small")
    findings, report = await reported(TimedLab(passed=[passed("small")], operators=(earlier,)))
    assert (findings, report.coverage) == ([], Coverage.CHECKED)


@pytest.mark.parametrize(
    ("lab", "why"),
    [
        (TimedLab(passed=[passed("small")], trouble="ValueError: no"), "ValueError: no"),
        (TimedLab(passed=[passed("small")], trouble="no answer", lost=True), "no answer"),
        (TimedLab(passed=[passed("small")], unchecked=("too much",)), "too much"),
    ],
    ids=["call fails", "worker is lost", "record is incomplete"],
)
async def test_incomplete_record_is_a_note(lab: TimedLab, why: str) -> None:
    (finding,), report = await reported(lab)
    assert (finding.severity, report.coverage) == (Severity.NOTE, Coverage.CHECKED)
    assert finding.message == f"sizes beyond the verified cases were not checked: {why}"


async def test_torch_before_a_failure_is_suspect() -> None:
    suspect, note = (await reported(TimedLab(passed=[passed("small")], operators=(COSINE,), trouble="ValueError: no")))[
        0
    ]
    assert (suspect.severity, note.severity) == (Severity.SUSPECT, Severity.NOTE)


@pytest.mark.parametrize(
    ("lab", "why"),
    [
        (TimedLab(passed=[passed("small")], timed=(timed(size=17 * MIB),)), "no case for timing takes at most 32 MiB"),
        (TimedLab(passed=[passed("small")], interpreted=False), "cases for timing are called when they are timed"),
    ],
    ids=["too large", "on a GPU"],
)
async def test_layer_without_large_case_is_not_asked(lab: TimedLab, why: str) -> None:
    findings, report = await reported(lab)
    assert (findings, report.coverage, report.why) == ([], Coverage.NOT_ASKED, why)


async def test_case_is_drawn_among_those_small_enough() -> None:
    cases = (timed("a"), timed("b"), timed("large", size=17 * MIB))
    drawn = set()
    for seed in range(16):
        lab = TimedLab(passed=[passed("small")], timed=cases, draws=Draws(seed, "large_cases"))
        await reported(lab)
        drawn |= {name for name, _, _ in lab.asked}
    assert drawn == {"a", "b"}


async def test_largest_case_is_always_called_and_another_drawn() -> None:
    cases = (timed("a"), timed("most", size=8 * MIB), timed("b"))
    called, executed = set(), []
    for seed in range(64):
        lab = TimedLab(passed=[passed("small")], timed=cases, draws=Draws(seed, "large_cases"))
        await reported(lab)
        called.add(tuple(name for name, _, _ in lab.asked))
        executed += lab.executions
    assert called == {("most", "a"), ("most", "b")}
    assert set(executed) == {"a", "b", "most"}
    assert executed.count("most") > len(executed) // 3


async def test_other_case_is_not_called_behind_a_finding() -> None:
    lab = TimedLab(passed=[passed("small")], timed=(timed(size=8 * MIB), timed("a")), operators=(COSINE,))
    findings, _ = await reported(lab)
    assert (len(findings), [name for name, _, _ in lab.asked]) == (1, ["timed"])


WRONG = OutputReport(name="return", outcome=Outcome.WRONG_VALUE, total=9, message="return: 3 of 9 wrong")
RACE = MemoryReport(
    fault=MemoryFault.CONFLICTING_WRITES, kernel="k", tensor="y", index=7, elements=9, count=1,
    access=ProgramAccess(access="store", program=(1, 0, 0), line=5),
    other=ProgramAccess(access="store", program=(0, 0, 0), line=5),
)  # fmt: skip


async def test_right_output_of_a_case_for_timing_is_a_fact() -> None:
    lab = TimedLab(passed=[passed("small")])
    findings, report = await reported(lab)
    assert (findings, lab.executions) == ([], ["timed"])
    assert [fact.value for fact in report.facts] == [
        "timed, called once with its launches suppressed",
        "timed, its output is right",
    ]


@pytest.mark.parametrize(
    ("outcome", "severity", "message"),
    [
        (
            {"compared": protocol.Compared(id="c", reports=(WRONG,), repeated=None, mutated=None)},
            Severity.SUSPECT,
            "wrong where no verified case is as large: return: 3 of 9 wrong",
        ),
        (
            {"compared": protocol.Compared(id="c", reports=(), repeated=None, mutated="x was changed")},
            Severity.SUSPECT,
            "x was changed",
        ),
        ({"compared": "no file was left"}, Severity.SUSPECT, "no file was left"),
        ({"executed": CallResult(trouble="IndexError: 9")}, Severity.HINT, "could not be verified: IndexError: 9"),
        ({"executed": CallResult(trouble="no answer", lost=True)}, Severity.NOTE, "could not be verified: no answer"),
    ],
    ids=["wrong value", "changed argument", "no answer", "error", "lost worker"],
)
async def test_other_outcome_of_a_case_for_timing_is_a_finding(
    outcome: dict[str, Any], severity: Severity, message: str
) -> None:
    (finding,), report = await reported(TimedLab(passed=[passed("small")], **outcome))
    assert (finding.check, finding.severity, finding.case) == ("large_cases", severity, "timed")
    assert finding.message == message
    assert report.facts[-1].value == f"timed, {message}"


MEMORY = CaseProof(case="timed", gap=Gap.MEMORY, reason="memory of unknown origin: 64 bytes (line 3)")


@pytest.mark.parametrize(
    ("proof", "message"),
    [
        (CaseProof(case="timed"), None),
        (CaseProof(case="timed", gap=Gap.HOST_READS, reason="the host reads results"), None),
        (MEMORY, f"not computed by the kernels alone where no verified case is as large: {MEMORY.reason}"),
    ],
    ids=["proven", "not proven", "computed elsewhere"],
)
async def test_right_case_for_timing_that_others_computed_is_suspect(proof: CaseProof, message: str | None) -> None:
    right = OutputReport(name="return", outcome=Outcome.PASS, total=9)
    compared = protocol.Compared(id="c", reports=(right,), repeated=None, mutated=None)
    lab = TimedLab(passed=[passed("small")], proven=frozenset({"small"}), compared=compared, proof=proof)
    findings, _ = await reported(lab)
    assert [(one.severity, one.message) for one in findings] == ([(Severity.SUSPECT, message)] if message else [])
    assert lab.taped == ["timed, 9 elements, timed.tape"]


@pytest.mark.parametrize(
    "changes", [{"proven": frozenset(), "proof": MEMORY}, {"proof": None}], ids=["case not proven", "no replay"]
)
async def test_calls_are_replayed_only_behind_a_proof(changes: dict[str, Any]) -> None:
    lab = TimedLab(passed=[passed("small")], **{"proven": frozenset({"small"}), **changes})
    findings, _ = await reported(lab)
    assert (findings, lab.taped) == ([], [])


async def test_conflicting_writes_in_a_case_for_timing_are_suspect() -> None:
    executed = Executed(memory=(RACE,))
    called = protocol.Called(id="c", returned=(), launches=(), elapsed_s=0.0, executed=executed)
    (finding,), _ = await reported(TimedLab(passed=[passed("small")], executed=called))
    assert (finding.severity, finding.message.startswith("race ")) == (Severity.SUSPECT, True)


@pytest.mark.parametrize(
    "lab",
    [
        TimedLab(passed=[passed("small")], timed=(timed(size=12 * MIB),)),
        TimedLab(
            passed=[passed("small")],
            reported=(Finding(check="interpreter", severity=Severity.NOTE, message="k ran in Triton's interpreter"),),
        ),
    ],
    ids=["too large", "in Triton's interpreter"],
)
async def test_launches_that_take_long_are_not_executed(lab: TimedLab) -> None:
    findings, report = await reported(lab)
    assert (findings, lab.executions, len(lab.asked), len(report.facts)) == ([], [], 1, 1)
