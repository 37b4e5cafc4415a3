"""Every event survives its own JSON, and nothing else is taken for an event."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from typing import Any

import pytest

from engine.model import (
    AccessTraffic,
    Artefact,
    CacheState,
    CaseResult,
    CompiledKernel,
    Finding,
    Launch,
    Location,
    Outcome,
    OutOfBounds,
    OutputReport,
    Policy,
    Severity,
    Stage,
    Stream,
    Tier,
    Traffic,
    TrafficKind,
    Verdict,
    WrongElement,
    events,
)
from engine.model.benchmark import (
    CANDIDATE,
    Bound,
    CaseBenchmark,
    CaseEstimate,
    Comparison,
    DeviceState,
    Floor,
    Holder,
    Interval,
    Method,
    Span,
    Standing,
    Summary,
    Timing,
)
from engine.model.layers import Coverage, Fact, Layer, LayerReport
from engine.model.proof import CaseProof, Gap

HERE = Location(line=7, column=3)
LAUNCH = Launch(
    kernel="k",
    signature={"x": "*fp32", "n": "i32", "block": "constexpr"},
    constants={"block": "128"},
    divisible_by_16=("x",),
    num_warps=4,
    num_stages=3,
    grid=(2, 3, 1),
    line=12,
    count=5,
    options={"maxnreg": "64"},
    closure="scale=2.0",
    generated_source="import triton",
    traffic=Traffic(
        programs=6,
        accesses=(
            AccessTraffic(
                kind=TrafficKind.ATOMIC,
                line=14,
                tensors=("x",),
                executions=6,
                requested_bytes=96,
                distinct_bytes=64,
                sectors=3,
            ),
        ),
        operations={"arith.addf": 768},
    ),
)
REPORT = OutputReport(
    name="return", outcome=Outcome.WRONG_VALUE, message="1 of 6 wrong", shape=(2, 3), dtype="float32", mismatched=1,
    total=6, nonfinite_got=1, nonfinite_expected=2, max_absolute_error=0.1, max_relative_error=1e-300,
    max_ulp_error=3.0, worst=WrongElement(index=(1, 2), expected="nan", got="-inf"), first_wrong=(1, 2),
    last_wrong=(1, 2), error_map=("..#", "1.9"),
)  # fmt: skip
RESULT = CaseResult(
    case="(2, 3) f32",
    tier=Tier.FULL,
    outcome=Outcome.RUNTIME_ERROR,
    elapsed_s=0.25,
    calls=2,
    seed=2**62 - 1,
    message="out of bounds",
    location=HERE,
    outputs=(REPORT,),
    out_of_bounds=OutOfBounds(
        access="load", kernel="k", tensor="x", index=-1, elements=6, program=(1, 0, 0), location=HERE
    ),
)
ARTEFACT = Artefact(kind="ptx", digest="ab" * 32, bytes=100)
KERNEL = CompiledKernel(
    launch=LAUNCH,
    target="sm_90",
    outcome=Outcome.COMPILE_ERROR,
    elapsed_s=0.5,
    message="too much shared memory",
    location=HERE,
    registers=32,
    spill_bytes=0,
    shared_bytes=49152,
    narrow_offset_line=7,
    artefacts=(ARTEFACT,),
)
FINDING = Finding(check="no_launch", severity=Severity.SUSPECT, message="why [so]?", location=HERE, case="(2, 3) f32")
LAYER_REPORT = LayerReport(
    layer=Layer.DEVICE_RECORD,
    by="d",
    coverage=Coverage.NOT_CHECKED,
    why="no [record]",
    facts=(Fact(name="own kernels", value="12 us"),),
)
TIMING = Timing(
    side=CANDIDATE,
    method=Method.GRAPH,
    device_us=Interval(value=7.5, low=7.4, high=7.7),
    call_us=Interval(value=21.0, low=20.5, high=22.25),
    graph_us=Interval(value=7.0, low=6.5, high=7.25),
    stream_us=Interval(value=9.0, low=8.5, high=9.5),
    samples_us=(7.4, 7.5, 7.7),
    activities=2,
    notes=("no CUPTI",),
)
BENCHMARK = CaseBenchmark(
    case="(2, 3) f32", outcome=Outcome.WRONG_VALUE, cache=CacheState.WARM, elapsed_s=1.5, message="1 of 6 wrong",
    timing=TIMING, baselines=(replace(TIMING, side="eager"),),
    comparisons=(
        Comparison(
            baseline="eager", speedup=Interval(value=1.25, low=1.2, high=1.3), resolution=0.01,
            standing=Standing.FASTER,
        ),
    ),
    ratio_to_self=Interval(value=1.0, low=0.99, high=1.01),
    floor=Floor(
        floor_us=5.0, bound=Bound.COMPUTE, bandwidth_bytes_per_s=3e12, peak_flops_per_s=5e13, precision="tf32",
        percent=66.5,
    ),
    slots=5, slot_bytes=4096, calls=40, verified=39, launches=(LAUNCH,),
    before=DeviceState(
        sm_clock_mhz=1980, memory_clock_mhz=2619, temperature_c=41, power_w=120.5, utilisation_percent=3,
        throttled_by=("power",), other_processes=(77,),
    ),
    after=DeviceState(sm_clock_mhz=1755),
    kernel_us=Interval(value=7.0, low=6.9, high=7.1), kernel_note="as recorded",
)  # fmt: skip
VERDICT = Verdict(
    outcome=Outcome.PASS, sentence="right, but not credible", passed=3, total=3, flagged=True, proven=2, location=HERE
)
FULL = (
    events.RunStarted(
        at_s=0.0,
        problem="aten::mm",
        digest="cd" * 32,
        device="cpu",
        device_name="A CPU",
        target="gfx942",
        cases=3,
        policy=Policy.STRICT,
    ),
    events.StageStarted(at_s=0.1, stage=Stage.VERIFY, total=3),
    events.StageFinished(
        at_s=0.2, stage=Stage.LOAD, outcome=Outcome.TIMEOUT, elapsed_s=0.1, message="infinite loop?", location=HERE
    ),
    events.FindingRaised(at_s=0.3, finding=FINDING),
    events.LayerChecked(at_s=0.3, report=LAYER_REPORT),
    events.CaseFinished(at_s=0.4, number=1, total=3, result=RESULT),
    events.KernelLaunched(at_s=0.5, launch=LAUNCH),
    events.KernelCompiled(at_s=0.6, number=1, total=2, kernel=KERNEL),
    events.KernelDisassembled(at_s=0.7, number=1, artefact=ARTEFACT),
    events.DeviceAwaited(
        at_s=0.71, holder=Holder(pid=123, command="kgtui bench k.py", since="2026-01-02T03:04:05+00:00")
    ),
    events.CaseBenchmarked(at_s=0.72, number=1, total=2, benchmark=BENCHMARK),
    events.BenchmarkSummarised(
        at_s=0.73,
        summaries=(
            Summary(
                baseline="eager",
                speedup=Interval(value=1.25, low=1.2, high=1.3),
                cases=1,
                planned=2,
                fast={"1.0": 1, "1.1": 0},
            ),
        ),
    ),
    events.ProfileTaken(at_s=0.74, spans=(Span(name="compile", count=3, busy_s=0.6, began_s=0.1, ended_s=0.35),)),
    events.LogWritten(at_s=0.8, stream=Stream.STDERR, text="Traceback"),
    events.RunFinished(at_s=0.9, verdict=VERDICT),
    events.PortingStarted(at_s=1.0, targets=("sm_80", "gfx942"), launches=2),
    events.KernelPorted(at_s=1.1, number=1, total=4, kernel=KERNEL),
    events.PortDisassembled(at_s=1.2, number=1, artefact=ARTEFACT),
    events.PortingFinished(at_s=1.3, outcome=Outcome.CANCELLED, message="cancelled"),
    events.OtherLoaded(at_s=1.4, digest="ef" * 32),
    events.TierFinished(at_s=1.5, tier=Tier.SMOKE, passed=2, total=3),
    events.CaseProven(
        at_s=1.6,
        number=1,
        total=2,
        proof=CaseProof(
            case="k1", gap=Gap.TORCH, reason="torch computes: aten::mm (line 12)", moved_bytes=8, constants="4 bytes"
        ),
    ),
    events.ProofStored(at_s=1.7, artefact=ARTEFACT, cases=2),
    events.SuiteRuleApplied(at_s=1.8, calls=11, passed=10),
    events.CaseEstimated(
        at_s=1.9,
        number=1,
        total=2,
        estimate=CaseEstimate(
            case="a",
            rounds=8,
            method=Method.GRAPH,
            device_us=Interval(value=7.5, low=7.0, high=8.0),
            comparisons=BENCHMARK.comparisons,
        ),
    ),
)
BARE = (
    events.RunStarted(
        at_s=0.0, problem="aten::mm", digest="cd" * 32, device="cpu", device_name="A CPU", target=None, cases=0
    ),
    events.StageStarted(at_s=0.1, stage=Stage.PARSE),
    events.StageFinished(at_s=0.2, stage=Stage.PARSE, outcome=Outcome.PASS, elapsed_s=0.0),
    events.FindingRaised(at_s=0.3, finding=Finding(check="c", severity=Severity.NOTE, message="m")),
    events.LayerChecked(at_s=0.3, report=LayerReport(layer=Layer.STATIC, by="c", coverage=Coverage.CHECKED)),
    events.CaseFinished(
        at_s=0.4, number=1, total=1,
        result=CaseResult(case="a", tier=Tier.SMOKE, outcome=Outcome.PASS, elapsed_s=0.0, calls=0, seed=None),
    ),
    events.CaseBenchmarked(
        at_s=0.5, number=1, total=1,
        benchmark=CaseBenchmark(case="a", outcome=Outcome.UNSUPPORTED, cache=CacheState.COLD, elapsed_s=0.0),
    ),
    events.CaseBenchmarked(
        at_s=0.6, number=1, total=1,
        benchmark=CaseBenchmark(
            case="a", outcome=Outcome.PASS, cache=CacheState.COLD, elapsed_s=0.1,
            timing=Timing(side=CANDIDATE, method=None, device_us=None, call_us=None),
        ),
    ),
    events.BenchmarkSummarised(at_s=0.7, summaries=()),
    events.ProfileTaken(at_s=0.8, spans=()),
    events.RunFinished(at_s=0.9, verdict=Verdict(outcome=Outcome.REFUSED, sentence="s", passed=0, total=0)),
)  # fmt: skip


def test_the_examples_are_one_of_every_kind() -> None:
    assert [type(event) for event in FULL] == list(events.EVENT_TYPES.values())


@pytest.mark.parametrize("event", FULL, ids=lambda event: type(event).__name__)
def test_full_example_sets_every_field(event: Any) -> None:
    inner = next(
        (
            value
            for name in ("result", "kernel", "finding", "verdict", "launch", "benchmark", "holder")
            if (value := getattr(event, name, None))
        ),
        event,
    )
    assert [field.name for field in fields(inner) if getattr(inner, field.name) == field.default] == []


@pytest.mark.parametrize("event", [*FULL, *BARE], ids=lambda event: type(event).__name__)
def test_an_event_is_rebuilt_from_its_json_exactly(event: events.Event) -> None:
    line = events.to_json(event)
    assert "\n" not in line
    assert events.from_json(line) == event
    assert events.from_json(line.encode()) == event


def test_event_kind_is_first_in_its_json() -> None:
    assert list(events.to_plain(FULL[1]).items()) == [
        ("event", "StageStarted"),
        ("at_s", 0.1),
        ("stage", "verify"),
        ("total", 3),
    ]


@pytest.mark.parametrize("text", ["", "a\0b", "\x1b[31mred\r\n", "é 漢 🧪", "[bold]{x}\\", "\ufeff", "\u2028"])
def test_text_of_every_kind_survives(text: str) -> None:
    event = events.LogWritten(at_s=0.0, stream=Stream.STDOUT, text=text)
    assert events.from_json(events.to_json(event)) == event


def test_a_lone_surrogate_is_written_as_its_escape() -> None:
    # A file name that is not UTF-8 has them, and file names stand in messages.
    event = events.LogWritten(at_s=0.0, stream=Stream.STDOUT, text="k\udcff.py")
    assert events.from_json(events.to_json(event)) == replace(event, text="k\\udcff.py")


@pytest.mark.parametrize("error", [float("inf"), float("-inf"), float("nan")])
def test_nonfinite_error_returns_as_not_measured(error: float) -> None:
    report = OutputReport(name="return", outcome=Outcome.WRONG_VALUE, max_absolute_error=error)
    result = CaseResult(
        case="a", tier=Tier.SMOKE, outcome=Outcome.WRONG_VALUE, elapsed_s=0.0, calls=1, seed=1, outputs=(report,)
    )
    line = events.to_json(events.CaseFinished(at_s=0.0, number=1, total=1, result=result))
    assert json.loads(line)["result"]["outputs"][0]["max_absolute_error"] is None
    again = events.from_json(line)
    assert isinstance(again, events.CaseFinished)
    assert again.result.outputs[0].max_absolute_error is None


@pytest.mark.parametrize(
    "line",
    [
        "",
        "null",
        "[]",
        '"RunStarted"',
        "{}",
        '{"event": 3}',
        '{"event": "RunExploded"}',
        '{"event": "RunFinished"}',
        '{"event": "StageStarted", "at_s": "soon", "stage": "parse"}',
        '{"event": "StageStarted", "at_s": 0.0, "stage": "polish"}',
        '{"event": "StageStarted", "at_s": 0.0, "stage": "parse"',
        '{"event": "LogWritten", "at_s": null, "stream": "stdout", "text": ""}',
    ],
)
def test_invalid_event_is_value_error_with_reason(line: str) -> None:
    with pytest.raises(ValueError, match=r"^not a run event: .+; it was written by another version, or is damaged$"):
        events.from_json(line)


@pytest.mark.parametrize(
    "line",
    ['{"event": []}', '{"event": {}}', b'{"event":"\xff"}', '{"event": ' + "[" * 100_000],
    ids=["list", "object", "no text", "nested beyond measure"],
)
def test_damaged_line_is_always_our_value_error(line: str | bytes) -> None:
    with pytest.raises(ValueError, match=r"^not a run event: "):
        events.from_json(line)
