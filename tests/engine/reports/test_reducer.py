"""One record from hand-written streams of events, in one batch or one by one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.model import (
    Artefact,
    CacheState,
    CaseResult,
    CompiledKernel,
    Launch,
    Outcome,
    Policy,
    Stage,
    Stream,
    Tier,
    Verdict,
)
from engine.model.benchmark import CaseBenchmark, CaseEstimate, Interval, Method
from engine.model.events import (
    CaseBenchmarked,
    CaseEstimated,
    CaseFinished,
    Event,
    KernelCompiled,
    KernelDisassembled,
    KernelLaunched,
    KernelPorted,
    LogWritten,
    PortDisassembled,
    PortingFinished,
    PortingStarted,
    RunFinished,
    RunStarted,
    StageFinished,
    StageStarted,
)
from engine.reports.reducer import record_of, reduce_all
from engine.reports.run_record import NO_RUN, RunRecord, StageRecord
from engine.reports.targets import Ports

LAUNCH = Launch(
    kernel="k", signature={}, constants={}, divisible_by_16=(), num_warps=4, num_stages=3, grid=(1,), line=9
)
KERNEL = CompiledKernel(launch=LAUNCH, target="sm_90", outcome=Outcome.PASS, elapsed_s=0.1)
SASS = Artefact(kind="sass", digest="ef" * 32, bytes=20)
VERDICT = Verdict(outcome=Outcome.PASS, sentence="1/1 cases passed", passed=1, total=1)
RESULT = CaseResult(case="4x33 f32", tier=Tier.SMOKE, outcome=Outcome.PASS, elapsed_s=0.02, calls=3, seed=7)
STARTED = RunStarted(
    at_s=0.0,
    problem="aten::softmax",
    digest="ab" * 32,
    device="cpu",
    device_name="A CPU",
    target="sm_90",
    cases=1,
    policy=Policy.STRICT,
)
ESTIMATED = CaseEstimated(
    at_s=0.6,
    number=1,
    total=2,
    estimate=CaseEstimate(
        case="4x33 f32", rounds=8, method=Method.CUPTI, device_us=Interval(value=7.5, low=7.0, high=8.0)
    ),
)
WRITTEN = LogWritten(at_s=0.35, stream=Stream.STDOUT, text="hello\n")
EVENTS: tuple[Event, ...] = (
    STARTED,
    StageStarted(at_s=0.1, stage=Stage.VERIFY, total=1),
    StageStarted(at_s=0.2, stage=Stage.COMPILE),
    KernelLaunched(at_s=0.3, launch=LAUNCH, case="4x33 f32"),
    WRITTEN,
    CaseFinished(at_s=0.4, number=1, total=1, result=RESULT),
    KernelCompiled(at_s=0.5, number=1, total=1, kernel=KERNEL),
    StageFinished(at_s=0.6, stage=Stage.COMPILE, outcome=Outcome.PASS, elapsed_s=0.4),
    StageFinished(at_s=0.7, stage=Stage.VERIFY, outcome=Outcome.PASS, elapsed_s=0.6),
    RunFinished(at_s=0.8, verdict=VERDICT),
    KernelDisassembled(at_s=0.9, number=1, artefact=SASS),
)
VERIFIED = StageRecord(stage=Stage.VERIFY, started_s=0.1, total=1, outcome=Outcome.PASS, elapsed_s=0.6, finished_s=0.7)
COMPILED = StageRecord(stage=Stage.COMPILE, started_s=0.2, outcome=Outcome.PASS, elapsed_s=0.4, finished_s=0.6)
RECORD = RunRecord(
    problem="aten::softmax",
    digest="ab" * 32,
    device="cpu",
    device_name="A CPU",
    target="sm_90",
    policy=Policy.STRICT,
    planned=1,
    at_s=0.9,
    stages=(VERIFIED, COMPILED),
    cases=(RESULT,),
    launches=(LAUNCH,),
    launched_by=("4x33 f32",),
    kernels=(replace(KERNEL, artefacts=(SASS,)),),
    kernel_numbers=(1,),
    kernels_planned=1,
    log=(WRITTEN,),
    verdict=VERDICT,
    finished_s=0.8,
)


def test_whole_stream_makes_the_whole_record() -> None:
    assert record_of(EVENTS) == RECORD


def test_events_one_by_one_make_the_same_record() -> None:
    record = NO_RUN
    for event in EVENTS:
        record = reduce_all(record, (event,))
    assert record == RECORD


def test_finished_stages_follow_order_of_their_end() -> None:
    assert record_of(EVENTS).finished_stages == (COMPILED, VERIFIED)


def test_open_stage_is_active_and_not_finished() -> None:
    record = record_of(EVENTS[:3])
    assert (record.active, record.finished_stages) == (StageRecord(stage=Stage.VERIFY, started_s=0.1, total=1), ())


def test_new_start_clears_run_but_keeps_context() -> None:
    record = record_of((*EVENTS, STARTED), file="k.py", number=7)
    assert record == record_of((STARTED,), file="k.py", number=7)


def test_finished_stage_without_start_gets_one() -> None:
    record = record_of((StageFinished(at_s=0.5, stage=Stage.LOAD, outcome=Outcome.TIMEOUT, elapsed_s=0.2),))
    (stage,) = record.stages
    assert (stage.started_s, stage.outcome, stage.finished_s) == (0.3, Outcome.TIMEOUT, 0.5)


def test_record_of_a_case_replaces_its_estimate() -> None:
    record = reduce_all(NO_RUN, (ESTIMATED,))
    assert (record.estimate, record.benchmarks_planned) == (ESTIMATED.estimate, 2)
    timed = CaseBenchmark(case="4x33 f32", outcome=Outcome.PASS, cache=CacheState.COLD, elapsed_s=1.0)
    after = reduce_all(record, (CaseBenchmarked(at_s=0.7, number=1, total=2, benchmark=timed),))
    assert (after.estimate, after.benchmarks) == (None, (timed,))


def test_end_of_a_run_clears_its_estimate() -> None:
    assert reduce_all(NO_RUN, (ESTIMATED, RunFinished(at_s=0.8, verdict=VERDICT))).estimate is None


def test_disassembly_of_an_unknown_kernel_changes_nothing() -> None:
    record = record_of((STARTED, KernelDisassembled(at_s=0.0, number=3, artefact=SASS)))
    assert record == record_of((STARTED,))


def test_retargeted_kernels_are_separate_and_cleared_on_restart() -> None:
    again = PortingStarted(at_s=2.0, targets=("gfx942",), launches=1)
    porting: tuple[Event, ...] = (
        PortingStarted(at_s=1.0, targets=("sm_80",), launches=1),
        KernelPorted(at_s=1.1, number=1, total=1, kernel=KERNEL),
        PortDisassembled(at_s=1.2, number=1, artefact=SASS),
        PortingFinished(at_s=1.3, outcome=Outcome.PASS),
    )
    ported = replace(KERNEL, artefacts=(SASS,))
    assert record_of((*EVENTS, *porting)).ports == Ports(
        targets=("sm_80",), launches=1, kernels=(ported,), numbers=(1,), outcome=Outcome.PASS
    )
    assert record_of((*EVENTS, *porting, again)).ports == Ports(targets=("gfx942",), launches=1)
    assert record_of((*EVENTS, *porting)).kernels == RECORD.kernels


@pytest.mark.parametrize(("events", "lacking"), [((), "RunStarted"), (EVENTS[:4], "RunFinished")])
def test_verdict_of_a_run_without_its_end_raises(events: tuple[Event, ...], lacking: str) -> None:
    with pytest.raises(ValueError, match=f"the events hold no {lacking}; a run has one before it is reported"):
        _ = record_of(events).final
