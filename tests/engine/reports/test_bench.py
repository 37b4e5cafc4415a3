"""A benchmark in every format, against files that are reviewed like code; and what must never be shown."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from engine.model import CacheState, CompiledKernel, Cost, Launch, Outcome, Stage, Verdict
from engine.model.benchmark import (
    CANDIDATE,
    Bound,
    CaseBenchmark,
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
from engine.model.events import (
    BenchmarkSummarised,
    CaseBenchmarked,
    DeviceAwaited,
    Event,
    KernelCompiled,
    ProfileTaken,
    RunFinished,
    RunStarted,
    StageFinished,
    StageStarted,
)
from engine.reports.markdown import as_markdown
from engine.reports.profile import profile_lines
from engine.reports.reducer import record_of
from engine.reports.remarks import remarks_on
from engine.reports.run_record import RunRecord
from engine.reports.table import bench_lines
from engine.reports.text import as_json, as_plain, plain_lines

GOLDEN = Path(__file__).parent / "golden"

LAUNCH = Launch(
    kernel="softmax_kernel",
    signature={"x_ptr": "*fp32", "BLOCK": "constexpr"},
    constants={"BLOCK": "1024"},
    divisible_by_16=("x_ptr",),
    num_warps=4,
    num_stages=3,
    grid=(4096,),
    line=10,
)
KERNEL = CompiledKernel(
    launch=dataclasses.replace(LAUNCH, grid=(7,), count=3),
    target="sm_90",
    outcome=Outcome.PASS,
    elapsed_s=0.09,
    registers=40,
    spill_bytes=0,
    shared_bytes=16,
)


def around(value: float, half: float) -> Interval:
    return Interval(value=value, low=value - half, high=value + half)


def timing(side: str, device_us: float, *notes: str) -> Timing:
    return Timing(
        side=side,
        method=Method.CUPTI,
        device_us=around(device_us, device_us / 100),
        call_us=around(device_us + 9, 0.5),
        samples_us=(device_us,),
        activities=1,
        notes=notes,
    )


def compared(baseline: str, value: float, standing: Standing, *, resolution: float = 0.006) -> Comparison:
    return Comparison(baseline=baseline, speedup=around(value, 0.02), resolution=resolution, standing=standing)


def floor(percent: float | None, *, bound: Bound = Bound.MEMORY) -> Floor:
    return Floor(
        floor_us=42.5,
        bound=bound,
        bandwidth_bytes_per_s=3e12,
        peak_flops_per_s=5e13,
        precision="float32",
        percent=percent,
    )


WIDE = CaseBenchmark(
    case="4096x4096 f32", outcome=Outcome.PASS, cache=CacheState.COLD, elapsed_s=2.0, timing=timing(CANDIDATE, 51.2),
    baselines=(timing("eager", 67.6),), comparisons=(compared("eager", 1.32, Standing.FASTER),),
    ratio_to_self=around(1.002, 0.004), floor=floor(83.0), slots=5, slot_bytes=2**26, calls=40, verified=40,
    launches=(LAUNCH,),
    before=DeviceState(sm_clock_mhz=1980, temperature_c=41, throttled_by=(), other_processes=()),
    after=DeviceState(
        sm_clock_mhz=1755, temperature_c=47, throttled_by=("power",), refused=("other processes: Not Supported",)
    ),
)  # fmt: skip
SMALL = CaseBenchmark(
    case="1x131072 f32",
    outcome=Outcome.PASS,
    cache=CacheState.COLD,
    elapsed_s=1.9,
    timing=timing(CANDIDATE, 7.5, "the graph could not be captured"),
    baselines=(timing("eager", 7.53, "the graph could not be captured"),),
    comparisons=(compared("eager", 1.004, Standing.SAME, resolution=0.011),),
    ratio_to_self=around(0.99, 0.005),
    floor=floor(None),
    calls=120,
    verified=119,
    before=DeviceState(other_processes=(77, 78)),
)
WRONG = CaseBenchmark(
    case="4096x781 bf16",
    outcome=Outcome.WRONG_VALUE,
    cache=CacheState.COLD,
    elapsed_s=0.7,
    message="return: 3 of 5467 wrong in timed call 12, on content that it had not seen before; [first at (6, 778)]",
    timing=timing(CANDIDATE, 1.0),
    comparisons=(compared("eager", 99.0, Standing.FASTER),),
    floor=floor(400.0),
    ratio_to_self=around(1.0, 0.001),
    calls=40,
    verified=12,
    launches=(LAUNCH,),
)
SUMMARY = Summary(baseline="eager", speedup=around(1.151, 0.03), cases=2, planned=3, fast={"1.0": 2, "1.1": 1})
PASSED = Verdict(outcome=Outcome.PASS, sentence="8/8 cases passed", passed=8, total=8)
SPANS = (
    Span(name="worker ready", count=1, busy_s=0.41, began_s=0.0, ended_s=0.41),
    Span(name="compile", count=6, busy_s=1.2, began_s=0.41, ended_s=0.9),
    Span(name="time cases", count=3, busy_s=4.6, began_s=1.4, ended_s=6.0),
)
HOLDER = Holder(pid=123, command="kgtui bench k.py", since="2026-01-02T03:04:05+00:00")
COSTS = {"4096x4096 f32": Cost(flops=83886080, bytes_read=67108864, bytes_written=67108864)}


def events(*cases: CaseBenchmark, verdict: Verdict = PASSED, summaries: tuple[Summary, ...] = (SUMMARY,)):
    timed: tuple[Event, ...] = tuple(
        CaseBenchmarked(at_s=2.0 + number, number=number, total=len(cases), benchmark=case)
        for number, case in enumerate(cases, start=1)
    )
    return (
        RunStarted(
            at_s=0.0,
            problem="aten::softmax",
            digest="ab" * 32,
            device="cuda",
            device_name="A GPU",
            target="sm_90",
            cases=8,
        ),
        KernelCompiled(at_s=0.9, number=1, total=1, kernel=KERNEL),
        StageFinished(at_s=1.0, stage=Stage.VERIFY, outcome=Outcome.PASS, elapsed_s=0.5),
        DeviceAwaited(at_s=1.1, holder=HOLDER),
        StageStarted(at_s=1.4, stage=Stage.BENCHMARK, total=len(cases)),
        *timed,
        BenchmarkSummarised(at_s=5.9, summaries=summaries),
        StageFinished(at_s=6.0, stage=Stage.BENCHMARK, outcome=Outcome.PASS, elapsed_s=4.6),
        ProfileTaken(at_s=6.0, spans=SPANS),
        RunFinished(at_s=6.0, verdict=verdict),
    )


FILE = "kernels/softmax.py"
EVENTS = events(WIDE, SMALL, WRONG)
RUN = record_of(EVENTS, file=FILE, number=12, costs=COSTS)


def run_of(*cases: CaseBenchmark, verdict: Verdict = PASSED, summaries: tuple[Summary, ...] = ()) -> RunRecord:
    return record_of(events(*cases, verdict=verdict, summaries=summaries), file="k.py")


def remarks(run: RunRecord) -> list[tuple[str, str]]:
    return [(remark.label, remark.text) for remark in remarks_on(run.benchmark_report)]


# The golden files


@pytest.mark.parametrize("width", [80, 120])
def test_the_table_is_that_of_the_golden_file(width):
    text = "".join(f"{line}\n" for line in bench_lines(RUN.benchmark_report, width=width))
    assert text == (GOLDEN / f"bench_{width}.txt").read_text()


def test_plain_lines_end_with_the_table():
    assert as_plain(EVENTS, file=FILE, number=12) == (GOLDEN / "bench.txt").read_text()


def test_json_document_matches_golden_file():
    assert as_json(RUN) == (GOLDEN / "bench.json").read_text()


def test_markdown_page_matches_golden_file():
    assert as_markdown(RUN, with_profile=True) == (GOLDEN / "bench.md").read_text()


@pytest.mark.parametrize("width", [80, 120])
def test_the_profile_is_that_of_the_golden_file(width):
    text = "".join(f"{line}\n" for line in profile_lines(RUN, width=width))
    assert text == (GOLDEN / f"profile_{width}.txt").read_text()


# The table


@pytest.mark.parametrize("width", [80, 100, 120, 200])
def test_lines_fit_the_given_width(width):
    second = dataclasses.replace(
        WIDE,
        case="4096x4096x4096 bf16 mat2 transposed",
        comparisons=tuple(compared(name, 1.0, Standing.SAME) for name in ("eager", "compile", "compile-max")),
    )
    lines = bench_lines(run_of(WIDE, second, WRONG, summaries=(SUMMARY,)).benchmark_report, width=width)
    assert [line for line in lines if len(line) > width] == []


def test_every_baseline_has_ratio_in_short_lines():
    many = dataclasses.replace(
        WIDE, comparisons=(compared("eager", 1.32, Standing.FASTER), compared("compile", 0.8, Standing.SLOWER))
    )
    lines = bench_lines(run_of(many).benchmark_report, width=80)
    assert "1.320 [1.300, 1.340] faster" in lines[3]
    assert lines[4] == "  vs compile: 0.800 [0.780, 0.820] slower"


def test_failed_case_has_no_time_in_any_format():
    run = run_of(WRONG)
    reported = "\n".join(
        (as_plain(events(WRONG), file="k.py"), as_markdown(run), *bench_lines(run.benchmark_report, width=120))
    )
    assert [sign for sign in ("99.0", "99x", "400%", "1.000") if sign in reported] == []
    (kept,) = json.loads(as_json(run))["benchmarks"]
    assert (kept["timing"], kept["comparisons"], kept["floor"], kept["ratio_to_self"]) == (None, [], None, None)


def test_unmeasured_value_is_reported_in_words():
    bare = Timing(side=CANDIDATE, method=None, device_us=None, call_us=None)
    unmeasured = dataclasses.replace(
        WIDE, timing=bare, comparisons=(), floor=None, ratio_to_self=None, launches=(), before=None, after=None
    )
    run = run_of(unmeasured)
    (_, row, *_) = bench_lines(run.benchmark_report, width=120)
    assert row == "4096x4096 f32  not measured  not measured  unknown   cold     40/40  -"
    assert remarks(run) == [
        ("method", "device times could not be taken by any method"),
        ("A/A", "the candidate was not measured against itself"),
        ("roofline", "unknown: it needs the measured peaks of this device"),
    ]


def test_launch_not_compiled_here_has_no_resources():
    other = dataclasses.replace(WIDE, launches=(dataclasses.replace(LAUNCH, num_warps=8),))
    assert bench_lines(run_of(other).benchmark_report, width=120)[1].endswith("  40/40  -")


def test_many_kernels_of_a_case_are_counted():
    many = dataclasses.replace(WIDE, launches=(LAUNCH,) * 5)
    assert bench_lines(run_of(many).benchmark_report, width=200)[1].endswith("  40/0/75% 40/0/75% 40/0/75% +2")


def test_a_console_of_ascii_gets_ascii():
    assert "\n".join(bench_lines(RUN.benchmark_report, width=80, is_ascii=True)).isascii()
    assert "\n".join(profile_lines(RUN, width=80, is_ascii=True)).isascii()


@pytest.mark.parametrize("us", [0.25, 7.5, 51.25, 999.5, 12345.0])
def test_numbers_have_four_digits_and_matching_interval(us):
    row = bench_lines(run_of(dataclasses.replace(WIDE, timing=timing(CANDIDATE, us))).benchmark_report, width=120)[1]
    shown = {
        0.25: "0.250 ±0.003",
        7.5: "7.500 ±0.075",
        51.25: "51.25 ±0.51",
        999.5: "999.5 ±10.0",
        12345.0: "12345 ±123",
    }[us]
    assert f" {shown} " in row


# The remarks


def test_times_of_failed_run_do_not_count():
    verdict = Verdict(outcome=Outcome.CANCELLED, sentence="cancelled", passed=8, total=8)
    assert remarks(run_of(WIDE, verdict=verdict))[0] == (
        "doubt",
        "these times do not count: the verdict is cancelled, cancelled",
    )


def test_times_of_a_flagged_run_do_not_count():
    verdict = dataclasses.replace(PASSED, flagged=True, sentence="right, but not credible: under the floor")
    assert remarks(run_of(WIDE, verdict=verdict))[0] == (
        "doubt",
        "these times do not count: the verdict is flagged, right, but not credible: under the floor",
    )


def test_times_of_unfinished_run_do_not_count():
    unfinished = events(WIDE)[:-1]
    assert remarks(record_of(unfinished))[0] == ("doubt", "the run did not finish")
    assert "these times do not count" not in as_plain(unfinished, file="k.py")


def test_less_precise_method_is_named_with_its_limits():
    assert WIDE.timing is not None
    coarse = dataclasses.replace(WIDE, timing=dataclasses.replace(WIDE.timing, method=Method.EVENTS))
    assert (
        "method",
        "device times by events around a call, which include launch gaps and exclude other streams (4096x4096 f32)",
    ) in remarks(run_of(coarse, SMALL))


def test_remark_on_every_case_names_no_case():
    assert ("throttled", "clocks were limited by power after") in remarks(run_of(WIDE))
    assert ("throttled", "clocks were limited by power after (4096x4096 f32)") in remarks(run_of(WIDE, SMALL))


def test_unverified_timed_call_is_counted():
    assert ("unverified", "119 of 120 timed calls were verified (1x131072 f32)") in remarks(run_of(WIDE, SMALL))


def test_self_comparison_reports_its_worst_case():
    assert dict(remarks(run_of(WIDE, SMALL)))["A/A"] == (
        "the candidate against itself: at worst 0.990 [0.985, 0.995] (1x131072 f32); "
        "the intervals of 1 of 2 cases contain 1"
    )


# Lines as they come


def test_device_holder_is_reported():
    (line,) = plain_lines(DeviceAwaited(at_s=1.0, holder=HOLDER), file="k.py")
    assert str(line) == (
        "device   busy waiting for the device: "
        "process 123 (kgtui bench k.py) has held it since 2026-01-02T03:04:05+00:00"
    )


def test_command_line_of_other_process_cannot_move_cursor():
    holder = dataclasses.replace(HOLDER, command="\x1b[2J")
    (line,) = plain_lines(DeviceAwaited(at_s=1.0, holder=holder), file="k.py")
    assert "process 123 (\\x1b[2J) has held" in str(line)


def test_the_longest_label_keeps_its_distance():
    (line,) = plain_lines(StageStarted(at_s=1.4, stage=Stage.BENCHMARK, total=5), file="k.py")
    assert str(line) == "benchmark started 5 cases"


# The profile


def test_run_without_profile_shows_its_stages():
    silent = record_of(event for event in EVENTS if not isinstance(event, ProfileTaken))
    lines = profile_lines(silent, width=80)
    assert lines[0] == "no profile was recorded for this run"
    assert [line.split()[0] for line in lines[1:]] == ["stage", "verify", "benchmark"]
    assert json.loads(as_json(silent))["profile"] is None
    assert "- no profile was recorded for this run" in as_markdown(silent, with_profile=True)


@pytest.mark.parametrize("at_s", [0.0, 3.0, 6.0])
def test_work_of_zero_time_has_a_mark(at_s):
    moment = Span(name="look", count=1, busy_s=0.0, began_s=at_s, ended_s=at_s)
    line = profile_lines(dataclasses.replace(RUN, profile=(moment,)), width=80, is_ascii=True)[1]
    assert line.count("#") == 1


def test_bars_share_one_axis_and_are_never_empty():
    lines = profile_lines(RUN, width=80, is_ascii=True)
    bars = {line.split()[0]: line.rpartition(" ")[2] for line in (lines[1], lines[2], lines[3], lines[5], lines[6])}
    assert {len(bar) for bar in bars.values()} == {len(bars["compile"])}
    assert bars["benchmark"] == bars["time"]
    assert bars["worker"].startswith("#")
    assert all("#" in bar for bar in bars.values())
