"""Recorded event streams of the states that the other doubles have no stream for: each stage, each way to end.

Each is a script as `FakeEngine` takes it; the catalogue names it.  Nothing here runs a kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from engine.model import (
    Candidate,
    CaseResult,
    Diagnosis,
    DiagnosisKind,
    Explanation,
    Finding,
    InputElement,
    Location,
    Outcome,
    Plan,
    Severity,
    Stage,
    Stream,
    Tier,
    Verdict,
)
from engine.model.benchmark import Interval
from engine.model.events import (
    BenchmarkSummarised,
    Event,
    FindingRaised,
    KernelCompiled,
    LayerChecked,
    LogWritten,
    RunFinished,
    StageFinished,
    StageStarted,
    TierFinished,
)
from engine.model.layers import Coverage, Fact, Layer, LayerReport
from tests.kgtui.fakes import (
    WRONG_TAIL,
    all_pass,
    compiled,
    out_of_bounds,
    passed,
    run_events,
    some_fail,
    suspicious,
    wrong,
)
from tests.kgtui.fakes.stored_runs import faster
from tests.kgtui.fakes.timed_runs import all_timed

_MASK = Diagnosis(
    kind=DiagnosisKind.TAIL_MASK,
    sentence="only the end of dimension 1 is wrong, from 127 on: look at the mask of the last block",
    evidence="127 of 127 wrong elements are there; the dimension is 128 long, which 127 does not divide",
    explained=127,
    wrong=127,
)
_UNWRITTEN = Diagnosis(
    kind=DiagnosisKind.UNWRITTEN_OUTPUT,
    sentence="never written from column 112 on, or accumulated into uninitialized memory",
    evidence="2,032 of 2,032 wrong elements still hold the bytes 0xFF that filled new memory before the call",
    explained=2032,
    wrong=2032,
)
_FEEDS = tuple(InputElement(argument="x", index=(3, column), value=f"{column / 8 - 7:.4g}") for column in range(64, 76))
_LAYERS = (
    LayerReport(layer=Layer.STATIC, by="static checks", coverage=Coverage.CHECKED,
                facts=(Fact(name="checks", value="31 checks read the file"),)),
    LayerReport(layer=Layer.BEHAVIOUR, by="behaviour", coverage=Coverage.CHECKED,
                facts=(Fact(name="own kernels", value="98.2 % of device time"),)),
    LayerReport(layer=Layer.ABLATION, by="ablation", coverage=Coverage.NOT_CHECKED, why="the worker ended: [signal] 9"),
    LayerReport(layer=Layer.DEVICE_RECORD, by="device record", coverage=Coverage.NOT_AVAILABLE,
                why="the interpreter keeps no record of launches"),
)  # fmt: skip


# Runs that go on


def parsing(candidate: Candidate, plan: Plan) -> list[Event]:
    """The file is read, and nothing more comes."""
    return _until(Stage.PARSE, all_pass(candidate, plan))


def loading(candidate: Candidate, plan: Plan) -> list[Event]:
    """The candidate's top level runs, and nothing more comes."""
    return _until(Stage.LOAD, all_pass(candidate, plan))


def smoke_passed(candidate: Candidate, plan: Plan) -> list[Event]:
    """All smoke cases passed, and the rest is still verified."""
    smoke = sum(case.tier is Tier.SMOKE for case in plan.cases)
    results = [passed(case) for case in plan.cases]
    begun = run_events(candidate, plan, results, stop_after=smoke)
    return [*begun, TierFinished(at_s=0.1, tier=Tier.SMOKE, passed=smoke, total=smoke)]


def probing(candidate: Candidate, plan: Plan) -> list[Event]:
    """Every case was right, and the probes look at the candidate."""
    return [*_until(Stage.COMPILE, all_pass(candidate, plan))[:-1], StageStarted(at_s=0.2, stage=Stage.PROBE)]


def compiling(candidate: Candidate, plan: Plan) -> list[Event]:
    """Every case was right, and what was launched is compiled."""
    return _until(Stage.COMPILE, all_pass(candidate, plan))


# Runs that ended


def explained(candidate: Candidate, plan: Plan) -> list[Event]:
    """Two cases fail with a reason: one has a wrong value in the last column, one an unwritten output."""
    results = [passed(case) for case in plan.cases]
    for place, case in enumerate(plan.cases):
        if "x128" in case.name:
            diagnosis = _MASK if case.dtype.short == "f32" else _UNWRITTEN
            about = Explanation(diagnoses=(diagnosis,), feeds=_FEEDS, feeding=128)
            results[place] = wrong(case, replace(WRONG_TAIL, explanation=about))
    return run_events(candidate, plan, results)


def beyond_the_end(candidate: Candidate, plan: Plan) -> list[Event]:
    """The first case reads past the end of a tensor."""
    return run_events(candidate, plan, [out_of_bounds(plan.cases[0]), *map(passed, plan.cases[1:])])


def crashed(candidate: Candidate, plan: Plan) -> list[Event]:
    """The process that called the candidate died in the fifth case."""
    return _ends_in_a_case(candidate, plan, Outcome.CRASHED, "the worker died of signal 11 (SIGSEGV)")


def timed_out(candidate: Candidate, plan: Plan) -> list[Event]:
    """The fifth case took too long."""
    return _ends_in_a_case(candidate, plan, Outcome.TIMEOUT, "no answer within 10 s; an infinite loop?")


def does_not_parse(candidate: Candidate, plan: Plan) -> list[Event]:
    """The file is no Python."""
    place = Location(line=14, column=5)
    message = "syntax error: '(' was never closed"
    ended = StageFinished(
        at_s=0.004, stage=Stage.PARSE, outcome=Outcome.COMPILE_ERROR, elapsed_s=0.003, message=message, location=place
    )
    return _stopped([*parsing(candidate, plan), ended], plan, Outcome.COMPILE_ERROR, message, place)


def does_not_build(candidate: Candidate, plan: Plan) -> list[Event]:
    """Right under the interpreter, and the compiler refuses a line."""
    message = "failed to translate module to [LLVM IR]: no such instruction"
    kernel = replace(
        compiled(),
        outcome=Outcome.COMPILE_ERROR,
        message=message,
        location=Location(line=13),
        artefacts=(),
        registers=None,
        spill_bytes=None,
        shared_bytes=None,
    )
    events = [*compiling(candidate, plan), KernelCompiled(at_s=0.3, number=1, total=1, kernel=kernel)]
    events.append(StageFinished(at_s=0.3, stage=Stage.COMPILE, outcome=Outcome.COMPILE_ERROR, elapsed_s=0.1))
    sentence = f"right on all cases, but softmax_kernel does not build for sm_90: {message}"
    return _stopped(events, plan, Outcome.COMPILE_ERROR, sentence, Location(line=13), passed=len(plan.cases))


def refused(candidate: Candidate, plan: Plan) -> list[Event]:
    """A rule of strict benchmarks is broken, so the file is not run."""
    place = Location(line=22)
    message = "torch.softmax computes the answer"
    found = Finding(check="library call", severity=Severity.PROOF, location=place, message=message)
    sentence = f"not run, for it breaks a rule: the kernel computes the answer (library call, line 22: {message})"
    events = [*_until(Stage.STATIC, all_pass(candidate, plan)), FindingRaised(at_s=0.01, finding=found)]
    events.append(StageFinished(at_s=0.01, stage=Stage.STATIC, outcome=Outcome.REFUSED, elapsed_s=0.006))
    return _stopped(events, plan, Outcome.REFUSED, sentence, place)


def unsupported(candidate: Candidate, plan: Plan) -> list[Event]:
    """This machine cannot run what the candidate needs."""
    message = "tl.async_task needs a Triton that is newer than 3.6"
    ended = StageFinished(at_s=0.06, stage=Stage.LOAD, outcome=Outcome.UNSUPPORTED, elapsed_s=0.05, message=message)
    return _stopped([*loading(candidate, plan), ended], plan, Outcome.UNSUPPORTED, message)


def engine_broke(candidate: Candidate, plan: Plan) -> list[Event]:
    """The fault is ours."""
    message = "the judge ended while it was asked for the inputs of 1x781 f32"
    said = LogWritten(at_s=0.07, stream=Stream.ENGINE, text="the judge is started again")
    return _stopped([*loading(candidate, plan), said], plan, Outcome.ENGINE_ERROR, message)


def inspected(candidate: Candidate, plan: Plan) -> list[Event]:
    """Right, and the layers of the inspector have told what they saw."""
    return _with_layers(all_pass(candidate, plan))


def inspected_and_flagged(candidate: Candidate, plan: Plan) -> list[Event]:
    """Right, the layers have told what they saw, and a check saw something."""
    return _with_layers(suspicious(candidate, plan))


def talkative(candidate: Candidate, plan: Plan) -> list[Event]:
    """The candidate and the engine write a great deal."""
    words = [
        LogWritten(at_s=0.07, stream=stream, text=f"{stream} line {number} [bold] 形状 🚀 " + "wide " * 40)
        for number in range(20)
        for stream in Stream
    ]
    *before, finished, printed = some_fail(candidate, plan)
    return [*before, *words, finished, printed]


def fast_with_eight_warps(candidate: Candidate, plan: Plan) -> list[Event]:
    """Timed; the variant with eight warps is the fastest by far, that with four no faster than the file."""
    if plan.benchmark is None:
        return all_pass(candidate, plan)
    source = candidate.source
    value = 1.5 if b"num_warps=8" in source else 1.01 if b"num_warps=4" in source else 1.0
    speedup = Interval(value=value, low=value * 0.98, high=value * 1.02)
    return [
        replace(event, summaries=tuple(replace(one, speedup=speedup) for one in event.summaries))
        if isinstance(event, BenchmarkSummarised)
        else event
        for event in all_timed(candidate, plan)
    ]


def twenty_percent_faster(candidate: Candidate, plan: Plan) -> list[Event]:
    """Timed, every case a fifth faster than in `all_timed`."""
    return list(faster(1.2)(candidate, plan))


def _until(stage: Stage, events: list[Event]) -> list[Event]:
    """The events up to the beginning of this stage, and no more."""
    begins = (place for place, event in enumerate(events) if isinstance(event, StageStarted) and event.stage is stage)
    return events[: next(begins) + 1]


def _stopped(
    events: list[Event],
    plan: Plan,
    outcome: Outcome,
    sentence: str,
    location: Location | None = None,
    *,
    passed: int = 0,
) -> list[Event]:
    verdict = Verdict(outcome=outcome, sentence=sentence, passed=passed, total=len(plan.cases), location=location)
    return [*events, RunFinished(at_s=0.42, verdict=verdict)]


def _ends_in_a_case(candidate: Candidate, plan: Plan, outcome: Outcome, message: str) -> list[Event]:
    first = plan.cases[4]
    results = [passed(case) for case in plan.cases[:4]]
    results.append(CaseResult(case=first.name, tier=first.tier, outcome=outcome, elapsed_s=0.9, calls=1, seed=5,
                              message=message, location=Location(line=13)))  # fmt: skip
    events = run_events(candidate, plan, results, stop_after=5)
    ended = StageFinished(at_s=1.1, stage=Stage.VERIFY, outcome=outcome, elapsed_s=1.0, message=message)
    sentence = f"case {first.name} failed: {message}"
    return _stopped([*events, ended], plan, outcome, sentence, Location(line=13), passed=4)


def _with_layers(events: list[Event]) -> list[Event]:
    *before, finished, printed = events
    return [*before, *(LayerChecked(at_s=0.4, report=report) for report in _LAYERS), finished, printed]


Script = Callable[[Candidate, Plan], list[Event]]
