"""Which calls are recorded, and what becomes of trouble; the records are scripted here."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import cast

import pytest

from engine import protocol
from engine.model import Case, CaseResult, DType, Finding, Launch, Outcome, OutputReport, Severity, Tier
from engine.model.layers import Coverage, LayerReport
from engine.probes import device_record
from engine.probes.lab.case_session import Lab, PassedCase, RecordedCall
from engine.verdict.native_symbols import NativeKernels

RIGHT = (protocol.CorrectCount(name="return", total=8, right=8, trivial=0),)


REPLAYED = protocol.ActivitySeen(
    kind=protocol.ActivityKind.KERNEL, name="k", own=True, replayed=True, device_ns=50
)  # fmt: skip


def passed(name: str, *, size: int, launches: Sequence[str] = ()) -> PassedCase:
    case = Case(name=name, dtype=DType.FLOAT32, tier=Tier.FULL, params={"size": size})
    result = CaseResult(
        case=name,
        tier=Tier.FULL,
        outcome=Outcome.PASS,
        elapsed_s=0.1,
        calls=2,
        seed=1,
        outputs=(OutputReport(name="return", outcome=Outcome.PASS, total=8),),
    )
    reported = tuple(
        Launch(
            kernel=kernel, line=3, signature={}, constants={}, divisible_by_16=(), num_warps=4, num_stages=3, grid=(1,)
        )
        for kernel in launches
    )
    return PassedCase(case=case, result=result, launches=reported)


def taped(*own: str, outputs: tuple[protocol.CorrectCount, ...] = RIGHT, foreign: str = "") -> RecordedCall:
    seen = [protocol.ActivitySeen(kind=protocol.ActivityKind.KERNEL, name=name, own=True, device_ns=50) for name in own]
    seen += [protocol.ActivitySeen(kind=protocol.ActivityKind.KERNEL, name=foreign, device_ns=50)] if foreign else []
    return RecordedCall(recorded=protocol.Recorded(id="i", returned=(), activities=tuple(seen)), outputs=outputs)


@dataclass(kw_only=True)
class FakeLab:
    """Stands for a Lab; `recorded` are the cases whose calls were, in their order."""

    passed: Sequence[PassedCase]
    script: Callable[[str], RecordedCall]
    platform: str = "cuda"
    unrecorded: str = ""
    recorded: list[str] = field(default_factory=list)
    renewed: int = 0
    native: NativeKernels | None = None
    one_worker: bool = False
    is_timed: bool = False
    is_proven: bool = False

    @property
    def plan(self) -> SimpleNamespace:
        return SimpleNamespace(one_worker=self.one_worker, is_timed=self.is_timed)

    @property
    def device(self) -> SimpleNamespace:
        return SimpleNamespace(platform=self.platform)

    @property
    def problem(self) -> SimpleNamespace:
        return SimpleNamespace(framework=())

    @property
    def session(self) -> SimpleNamespace:
        return SimpleNamespace(unrecorded=self.unrecorded)

    def size_of(self, case: Case) -> int:
        return case.size("size")

    async def renew(self) -> None:
        self.renewed += 1

    @contextlib.asynccontextmanager
    async def at(self, case: Case) -> AsyncIterator[SimpleNamespace]:
        async def record() -> RecordedCall:
            self.recorded.append(case.name)
            return self.script(case.name)

        yield SimpleNamespace(record=record)


async def reported(lab: FakeLab) -> tuple[list[Finding], LayerReport]:
    seen = [one async for one in device_record.probe(cast(Lab, lab))]  # cast: the double at the seam
    (report,) = (one for one in seen if isinstance(one, LayerReport))
    return [one for one in seen if isinstance(one, Finding)], report


async def test_second_call_of_largest_case_uses_new_worker() -> None:
    lab = FakeLab(passed=[passed("small", size=1), passed("large", size=9)], script=lambda name: taped("k"))
    findings, report = await reported(lab)
    assert (findings, report.coverage) == ([], Coverage.CHECKED)
    assert (lab.recorded, lab.renewed) == (["large", "large"], 1)
    assert report.facts[0].value.startswith("100% of 0.05 us in large")


async def test_untimed_run_with_all_cases_proven_makes_no_record() -> None:
    lab = FakeLab(passed=[passed("c", size=1)], script=lambda name: taped("k"), is_proven=True)
    findings, report = await reported(lab)
    assert (findings, report.coverage) == ([], Coverage.NOT_ASKED)
    assert report.why == "the kernels of every case are proven, and nothing is timed"
    assert (lab.recorded, lab.renewed) == ([], 0)


async def test_timed_run_with_all_cases_proven_is_recorded() -> None:
    lab = FakeLab(passed=[passed("c", size=1)], script=lambda name: taped("k"), is_proven=True, is_timed=True)
    _, report = await reported(lab)
    assert (report.coverage, lab.recorded) == (Coverage.CHECKED, ["c", "c"])


async def test_clear_record_of_batch_needs_no_worker() -> None:
    lab = FakeLab(passed=[passed("c", size=1)], script=lambda name: taped("k"), one_worker=True)
    findings, report = await reported(lab)
    assert (findings, report.coverage) == ([], Coverage.CHECKED)
    assert (lab.recorded, lab.renewed) == (["c", "c"], 0)


@pytest.mark.parametrize(
    "first",
    [
        taped("k", foreign="gemm"),
        taped("k", outputs=(protocol.CorrectCount(name="return", total=8, right=5, trivial=0),)),
        RecordedCall(trouble="it died"),
        RecordedCall(recorded=protocol.Recorded(id="i", returned=(), activities=(REPLAYED,)), outputs=RIGHT),
    ],
    ids=["foreign kernel", "wrong output", "no record", "replayed graph"],
)
async def test_unclear_record_of_batch_is_repeated(first: RecordedCall) -> None:
    lab = FakeLab(passed=[passed("c", size=1)], script=lambda name: taped("k"), one_worker=True)
    lab.script = lambda name: taped("k") if lab.renewed else first
    findings, report = await reported(lab)
    assert (findings, report.coverage, lab.renewed) == ([], Coverage.CHECKED, 1)


async def test_a_case_with_another_kernel_is_recorded_too() -> None:
    cases = [passed("tail", size=1, launches=["b"]), passed("same", size=2, launches=["a"]), passed("large", size=9)]
    lab = FakeLab(passed=cases, script=lambda name: taped("b" if name == "tail" else "a"))
    await reported(lab)
    assert lab.recorded == ["large", "large", "tail", "tail"]


async def test_no_more_than_three_cases_are_recorded() -> None:
    cases = [passed(f"c{number}", size=number, launches=[f"k{number}"]) for number in range(6)]
    lab = FakeLab(passed=cases, script=lambda name: taped("other"))
    await reported(lab)
    assert list(dict.fromkeys(lab.recorded)) == ["c5", "c4", "c3"]


async def test_recorded_activity_is_found_with_its_case() -> None:
    lab = FakeLab(passed=[passed("c", size=1)], script=lambda name: taped("k", foreign="gemm"))
    (finding,), report = await reported(lab)
    assert (finding.check, finding.severity, finding.case) == ("device_record", Severity.SUSPECT, "c")
    assert report.coverage is Coverage.CHECKED


async def test_wrong_output_while_recording_is_suspect() -> None:
    wrong = (protocol.CorrectCount(name="return", total=8, right=5, trivial=0),)
    lab = FakeLab(passed=[passed("c", size=1)], script=lambda name: taped("k", outputs=wrong))
    (finding,), _ = await reported(lab)
    assert finding.severity is Severity.SUSPECT
    assert finding.message == "passed before, but 3 elements are wrong while launches are recorded"


async def test_one_wrong_element_while_recording_is_singular() -> None:
    wrong = (protocol.CorrectCount(name="return", total=8, right=7, trivial=0),)
    lab = FakeLab(passed=[passed("c", size=1)], script=lambda name: taped("k", outputs=wrong))
    (finding,), _ = await reported(lab)
    assert finding.message == "passed before, but 1 element is wrong while launches are recorded"


async def test_trouble_leaves_the_layer_unchecked() -> None:
    lab = FakeLab(passed=[passed("c", size=1)], script=lambda name: RecordedCall(trouble="it died"))
    findings, report = await reported(lab)
    assert (findings, report.coverage, report.why) == ([], Coverage.NOT_CHECKED, "c: it died")
    assert lab.recorded == ["c"]


@pytest.mark.parametrize(
    ("platform", "unrecorded", "why"),
    [("cpu", "", "cpu devices have no activity record"), ("cuda", "no libcupti", "no libcupti")],
)
async def test_missing_device_record_is_not_available(platform: str, unrecorded: str, why: str) -> None:
    lab = FakeLab(
        passed=[passed("c", size=1)], script=lambda name: taped("k"), platform=platform, unrecorded=unrecorded
    )
    findings, report = await reported(lab)
    assert (findings, report.coverage, report.why, lab.recorded) == ([], Coverage.NOT_AVAILABLE, why, [])
