"""The bench tab's rows, lines and headline: what is shown, what is marked, and what is never shown as good."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.model import Candidate, Outcome, Plan, Problem, Stage, Verdict
from engine.model.events import RunFinished, RunStarted, StageFinished, StageStarted
from engine.model.problems.form import CandidateForm
from engine.model.problems.suite_origin import SuiteOrigin
from engine.reports.reducer import reduce_all
from engine.reports.run_record import NO_RUN, RunRecord
from kgtui.ports.protocols import BestRun
from kgtui.state.bench.benchmarks import (
    bench_columns,
    bench_rows,
    best_line,
    estimate_line,
    headline,
    summary_lines,
    why_nothing,
)
from kgtui.state.bench.detail import bench_detail, estimate_detail
from kgtui.state.bench.measurements import NOTHING_MEASURED, Measurements, Trust, measured
from kgtui.state.bench.static_cost import cost_rows, static_lines
from kgtui.state.format.glyphs import ASCII, UNICODE
from kgtui.state.format.lines import Row, Tone, plain_text
from kgtui.state.workbench.markdown import run_markdown
from kgtui.state.workbench.status import StripContext
from kgtui.state.workbench.workbench import RunPurpose, Workbench
from tests.kgtui import fakes
from tests.kgtui.fakes import timed_runs


@pytest.fixture
def problem() -> Problem:
    known: Problem = timed_runs.timed_problem()
    return known


@pytest.fixture
def plan(problem: Problem) -> Plan:
    known: Plan = timed_runs.bench_plan(problem)
    return known


@pytest.fixture
def candidate(problem: Problem) -> Candidate:
    return Candidate(source=fakes.SOURCE, problem=problem.name, filename="softmax.py")


@pytest.fixture
def timed(candidate: Candidate, plan: Plan) -> Any:
    """The view of a run by the name of its script."""
    return lambda script: reduce_all(NO_RUN, getattr(timed_runs, script)(candidate, plan))


def rows_of(problem: Problem, view: RunRecord, measurements: Measurements, **options: Any) -> tuple[Row, ...]:
    return bench_rows(problem, view, measurements, glyphs=options.pop("glyphs", UNICODE), **options)


def texts(row: Row) -> list[str]:
    return [cell.text for cell in row.cells]


def test_row_has_time_ratio_roofline_and_resources(problem: Problem, timed: Any) -> None:
    view = timed("all_timed")
    measurements = measured(view, number=1)
    row = rows_of(problem, view, measurements)[1]
    assert texts(row) == [
        "4096x781 f32", "14.3 ±0.1", "▲ 1.41 ±0.02", "62% memory", "20.8", "▅▆█▆▅ ▂▂  ", "40", "0 B", "75%", "cold", ""
    ]  # fmt: skip
    assert len(bench_columns(problem, measurements, glyphs=UNICODE)) == len(row.cells)


def test_every_standing_has_a_sign_and_a_tone(problem: Problem, timed: Any) -> None:
    view = timed("all_timed")
    ratios = [row.cells[2] for row in rows_of(problem, view, measured(view, number=1))]
    assert [(ratio.text[0], ratio.tone) for ratio in ratios[1:4]] == [
        ("▲", Tone.GOOD),
        ("=", Tone.PLAIN),
        ("▼", Tone.BAD),
    ]
    in_ascii = rows_of(problem, view, measured(view, number=1), glyphs=ASCII)
    assert [row.cells[2].text for row in in_ascii[1:4]] == ["^ 1.41 +-0.02", "= 1.00 +-0.01", "v 0.91 +-0.01"]


def test_case_that_is_timed_has_its_estimate_without_emphasis(problem: Problem, timed: Any) -> None:
    view = timed("times_third_of_five")
    rows = rows_of(problem, view, measured(view, number=1))
    assert texts(rows[2]) == [
        "4096x4096 f32", "· 55.6 ±0.4", "1.00 ±0.01", *["–"] * 7, "so far, after 8 rounds"
    ]  # fmt: skip
    assert {cell.tone for cell in rows[2].cells[1:]} == {Tone.MUTED}
    assert rows[3].cells[1].text == "· waits"
    assert len(rows[2].cells) == len(rows[1].cells)


def test_estimate_replaces_an_earlier_measurement(problem: Problem, timed: Any) -> None:
    view = timed("times_third_of_five")
    before = measured(timed("all_timed"), number=1)
    rows = rows_of(problem, view, measured(view, number=2).over(before, view))
    assert rows[2].cells[-1].text == "so far, after 8 rounds"
    assert rows[3].cells[-1].text == "of run #1"


def test_headline_has_the_speedup_so_far(timed: Any) -> None:
    view = timed("times_third_of_five")
    assert plain_text((estimate_line(view, glyphs=UNICODE),)) == "1.00× ±0.01 eager so far"
    assert view.estimate is not None
    alone = replace(view, estimate=replace(view.estimate, comparisons=()))
    assert plain_text((estimate_line(alone, glyphs=UNICODE),)) == "55.6 ±0.4 µs so far"


@pytest.mark.parametrize("script", ["times_two_of_five", "all_timed"])
def test_nothing_is_said_so_far_without_an_estimate(script: str, timed: Any) -> None:
    assert estimate_line(timed(script), glyphs=UNICODE) == ()


def test_estimate_of_a_wrong_or_flagged_run_is_not_shown(problem: Problem, timed: Any, plan: Plan) -> None:
    view, flagged = timed("times_third_of_five"), timed("timed_and_flagged")
    for doubtful in (
        replace(view, cases=(*view.cases, fakes.wrong(plan.cases[0]))),
        replace(view, findings=flagged.findings),
    ):
        assert estimate_line(doubtful, glyphs=UNICODE) == ()
        assert rows_of(problem, doubtful, measured(doubtful, number=1))[2].cells[1].text == "· waits"


def test_estimate_has_its_interval_and_method_in_detail(timed: Any) -> None:
    estimate = timed("times_third_of_five").estimate
    assert plain_text(estimate_detail(estimate, glyphs=UNICODE)) == (
        "4096x4096 f32  so far, after 8 rounds\n"
        "device    55.6 µs  [55.18 to 55.98]  CUPTI timestamps, all streams\n"
        "eager     = 1.00 ±0.01 no difference  [0.992 to 1.014]\n"
        "more rounds, whole calls and graphs follow"
    )


def test_missing_time_of_kernels_alone_has_its_reason(timed: Any) -> None:
    one = measured(timed("all_timed"), number=1).cases[0]
    noted = replace(one, benchmark=replace(one.benchmark, kernel_note="no kernel time: the replay timed out"))
    added = plain_text(bench_detail(noted, glyphs=UNICODE)).splitlines()
    assert set(added) - set(plain_text(bench_detail(one, glyphs=UNICODE)).splitlines()) == {
        "kernels   no kernel time: the replay timed out"
    }


def test_second_baseline_has_its_own_column(problem: Problem, timed: Any) -> None:
    view = timed("two_baselines")
    measurements = measured(view, number=1)
    labels = [column.label for column in bench_columns(problem, measurements, glyphs=UNICODE)]
    assert labels[:6] == ["case", "µs", "× eager", "roofline", "× compile", "call µs"]
    assert texts(rows_of(problem, view, measurements)[0])[4] == "▲ 1.69 ±0.02"


def test_headline_is_roofline_percentage_and_mean_speedup(timed: Any) -> None:
    said = headline(measured(timed("all_timed"), number=1), glyphs=UNICODE)
    assert plain_text((said,)) == "78% peak  ▲ 1.32× ±0.03 eager"
    assert said[1].tone is Tone.GOOD


@pytest.mark.parametrize(("shown", "words"), [(42, "best #38 1.32× ±0.03 eager"), (38, "best so far")])
def test_best_run_is_named_unless_shown(shown: int, words: str) -> None:
    best = BestRun(number=38, baseline="eager", speedup=timed_runs.summary().speedup)
    assert plain_text((best_line(best, shown=shown, glyphs=UNICODE),)) == words
    assert best_line(None, shown=shown, glyphs=UNICODE) == ()


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (("torch",), "best #38 1.32× ±0.03 eager (torch changed since)"),
        (("driver", "torch"), "best #38 1.32× ±0.03 eager (2 versions changed since)"),
    ],
)
def test_best_run_names_changed_versions(changed: tuple[str, ...], words: str) -> None:
    best = BestRun(number=38, baseline="eager", speedup=timed_runs.summary().speedup, changed=changed)
    assert plain_text((best_line(best, shown=42, glyphs=UNICODE),)) == words


def test_summary_counts_faster_and_slower_cases(timed: Any) -> None:
    assert plain_text(summary_lines(measured(timed("all_timed"), number=1), glyphs=UNICODE)) == (
        "▲ 1.32× ±0.03 eager, geomean of 5/5 · fast_1 4/5 · fast_1.5 2/5 · fast_2 0/5"
    )


def test_mean_interval_containing_one_is_equal(timed: Any) -> None:
    from engine.model.benchmark import Interval

    same = replace(timed_runs.summary(), speedup=Interval(value=1.004, low=0.99, high=1.02))
    said = headline(replace(measured(timed("all_timed"), number=1), summaries=(same,)), glyphs=UNICODE)
    assert plain_text((said,)) == "78% peak  = 1.00× ±0.02 eager"
    assert said[1].tone is Tone.STRONG


def test_mean_within_resolution_is_equal(timed: Any) -> None:
    from engine.model.benchmark import Interval

    measurements = measured(timed("all_timed"), number=1)
    assert measurements.resolution("eager") == 0.011
    slight = replace(timed_runs.summary(), speedup=Interval(value=1.008, low=1.004, high=1.012))
    said = headline(replace(measurements, summaries=(slight,)), glyphs=UNICODE)
    assert plain_text((said,)) == "78% peak  = 1.01× ±0.00 eager"


# Correctness gates speed


def test_speedup_of_flagged_run_is_marked(problem: Problem, timed: Any) -> None:
    view = timed("timed_and_flagged")
    measurements = measured(view, number=1)
    row = rows_of(problem, view, measurements)[0]
    assert (row.cells[2].text, row.cells[2].tone) == ("⚑ 1.92 ±0.02", Tone.WARN)
    assert row.cells[-1].text == "⚑ flagged: does not count"
    assert plain_text((headline(measurements, glyphs=UNICODE),)) == "⚑ 1.32× ±0.03 eager"
    lines = (headline(measurements, glyphs=UNICODE), *summary_lines(measurements, glyphs=UNICODE))
    assert Tone.GOOD not in {span.tone for one in lines for span in one}
    detail = bench_detail(measurements.cases[0], glyphs=UNICODE)
    assert "flagged: does not count; the findings say why" in plain_text(detail)
    assert not any("faster" in span.text for one in detail for span in one)


def test_wrong_timed_call_removes_speedup_of_run(problem: Problem, timed: Any) -> None:
    view = timed("wrong_while_timed")
    measurements = measured(view, number=1)
    first, second, *_ = rows_of(problem, view, measurements)
    assert texts(first)[1:3] == ["✗ wrong value", "–"]
    assert texts(first)[-1] == "the run did not pass; timed call 17 of 240 gave another answer"
    assert texts(second)[2] == "–"
    assert headline(measurements, glyphs=UNICODE) == ()
    assert summary_lines(measurements, glyphs=UNICODE) == ()
    assert "1.41" not in plain_text(bench_detail(measurements.cases[1], glyphs=UNICODE))


def test_too_slow_case_does_not_affect_others(problem: Problem, timed: Any) -> None:
    view = timed("all_timed")
    first, *rest = view.benchmarks
    slow = replace(first, outcome=Outcome.TIMEOUT, message="over its 2 s", timing=None, comparisons=())
    view = replace(view, benchmarks=(slow, *rest))
    rows = rows_of(problem, view, measured(view, number=1))
    assert texts(rows[0])[1:3] == ["✗ timeout", "–"]
    assert (texts(rows[1])[2], texts(rows[0])[-1]) == ("▲ 1.41 ±0.02", "over its 2 s")


def test_times_without_a_verification_count_for_nothing(timed: Any) -> None:
    view = timed("all_timed")
    unverified = replace(view, stages=tuple(stage for stage in view.stages if stage.stage is not Stage.VERIFY))
    assert measured(unverified, number=1).trust is Trust.WRONG
    assert measured(view, number=1).trust is Trust.CREDIBLE


def test_finding_marks_speedups_before_verdict(timed: Any) -> None:
    view = timed("timed_and_flagged")
    assert measured(replace(view, verdict=None), number=1).trust is Trust.FLAGGED


# Old results


@pytest.fixture
def bench(problem: Problem) -> Workbench:
    """A workbench on a GPU before any run."""
    return Workbench(problem=problem, path=Path("softmax.py"), saved=fakes.SOURCE, device="cuda", target="sm_90")


def judged(bench: Workbench, plan: Plan, script: Any, *, number: int, content: bytes) -> Workbench:
    bench = replace(bench, saved=content)
    events = script(Candidate(source=content, problem=plan.problem.name), plan)
    return bench.run_began(number=number, cached=False).with_events(events)


def test_old_times_are_stale_until_case_is_timed(bench: Workbench, plan: Plan, problem: Problem) -> None:
    bench = judged(bench, plan, timed_runs.all_timed, number=41, content=b"one")
    bench = judged(bench, plan, timed_runs.times_two_of_five, number=42, content=b"two")
    rows = rows_of(problem, bench.view, bench.measurements)
    assert [row.stale for row in rows] == [False, False, True, True, True]
    assert texts(rows[2])[1:3] == ["55.6 ±0.4", "= 1.00 ±0.01"]
    assert texts(rows[2])[-1] == "stale (#41)"
    assert plain_text((headline(bench.measurements, glyphs=UNICODE),)) == "stale: ▲ 1.32× ±0.03 eager (#41)"


def test_times_of_same_text_are_not_stale(bench: Workbench, plan: Plan, problem: Problem) -> None:
    bench = judged(bench, plan, timed_runs.all_timed, number=41, content=b"one")
    bench = judged(bench, plan, timed_runs.verified_only, number=42, content=b"one")
    rows = rows_of(problem, bench.view, bench.measurements)
    assert {row.stale for row in rows} == {False}
    assert {row.cells[-1].text for row in rows} == {"of run #41"}
    assert plain_text((headline(bench.measurements, glyphs=UNICODE),)) == "78% peak  ▲ 1.32× ±0.03 eager"


def test_times_of_text_later_found_wrong_are_dropped(bench: Workbench, plan: Plan, problem: Problem) -> None:
    bench = judged(bench, plan, timed_runs.all_timed, number=41, content=b"one")
    bench = judged(bench, plan, timed_runs.fails_before_it_is_timed, number=42, content=b"one")
    assert {row.cells[2].text for row in rows_of(problem, bench.view, bench.measurements)} == {"–"}
    assert headline(bench.measurements, glyphs=UNICODE) == ()


def test_past_run_shows_only_its_own_times(bench: Workbench, plan: Plan, candidate: Candidate) -> None:
    bench = judged(bench, plan, timed_runs.all_timed, number=41, content=b"one")
    bench = bench.opened(7, timed_runs.times_two_of_five(candidate, plan))
    assert [(one.number, one.stale) for one in bench.measurements.cases] == [(7, False), (7, False)]


# Orders


def test_save_on_gpu_is_verified_then_timed(bench: Workbench) -> None:
    order = bench.order()
    assert order.benchmark is not None
    assert [case.tier for case in order.benchmark.cases] == ["bench"] * 5
    plan = order.plan(())
    assert (plan.benchmark, len(plan.cases)) == (order.benchmark, 8)


def test_cpu_selected_cases_and_verify_only_skip_timing(bench: Workbench) -> None:
    assert replace(bench, device="cpu").order().benchmark is None
    assert bench.order(cases=("4x1 f32",)).benchmark is None
    assert bench.order(purpose=RunPurpose.VERIFY).benchmark is None
    _, without_bench_cases, _ = fakes.catalogue()
    assert replace(bench, problem=without_bench_cases).order().benchmark is None


# One case in full


def test_detail_states_method_checks_and_device(problem: Problem, timed: Any) -> None:
    detail = plain_text(bench_detail(measured(timed("all_timed"), number=1).cases[1], glyphs=UNICODE)).splitlines()
    assert detail == [
        "4096x781 f32  ✔ pass",
        "device    14.3 µs  [14.23 to 14.44]  CUPTI timestamps, all streams, 1 activity a call",
        "call      20.8 µs  [20.43 to 21.18]  end to end, with the host",
        "graph     14.5 µs  [14.35 to 14.61]  inside a CUDA graph",
        "eager     20.2 µs  ▲ 1.41 ±0.02 faster  [1.393 to 1.424]",
        "          one of its kernels ran on a side stream",
        "A/A       1.002  [0.994 to 1.009], under 1.1% is no difference",
        "roofline  62%  8.82 µs by memory at the 2.90 TB/s measured here",
        "spread    ▅▆█▆▅ ▂▂    14.1 to 15.0 µs, 23 samples, 1 above",
        "verified  240 of 240 timed calls, 24 slots of 12 MiB, L2 cold, 0.81 s",
        "kernel    softmax_kernel  4 warps, 3 stages, sm_90",
        "          40 registers, no spills, 16 B shared, occupancy 75% by registers",
        "before    1,980 MHz, 2,619 MHz memory, 41 C, 310 W, 2% busy",
        "after     1,755 MHz, 2,619 MHz memory, 52 C, 640 W, 99% busy",
        "          clocks limited: power cap",
        "          other processes use the device: 4242",
    ]


def test_unmeasured_value_is_never_a_number(problem: Problem, timed: Any) -> None:
    view = timed("all_timed")
    one = measured(view, number=1).cases[0]
    assert one.benchmark.timing is not None
    timing = replace(one.benchmark.timing, device_us=None, samples_us=(), notes=("CUPTI is missing",))
    bare = replace(one.benchmark, timing=timing, comparisons=(), floor=None, before=None, after=None, launches=())
    row = rows_of(problem, view, Measurements(cases=(replace(one, benchmark=bare),)))[0]
    assert texts(row)[1:4] == ["–", "–", "–"]
    assert texts(row)[5:9] == ["–", "–", "–", "–"]
    detail = plain_text(bench_detail(replace(one, benchmark=bare), glyphs=UNICODE))
    assert "note      CUPTI is missing" in detail
    assert "before    the driver reported no device state" in detail


def test_kernel_of_other_specialisation_shares_no_registers(problem: Problem, timed: Any) -> None:
    view = timed("all_timed")
    other = tuple(replace(one, launch=replace(one.launch, num_warps=8)) for one in view.kernels)
    measurements = measured(replace(view, kernels=other), number=1)
    assert texts(rows_of(problem, view, measurements)[0])[6:9] == ["–", "–", "–"]
    assert "was not compiled for a target in this run" in plain_text(
        bench_detail(measurements.cases[0], glyphs=UNICODE)
    )


def test_result_markdown_has_table_of_times(timed: Any) -> None:
    strip_context = StripContext(operator="aten::softmax", filename="softmax.py", number=7)
    text = run_markdown(timed("two_baselines"), strip_context, glyphs=UNICODE)
    assert "| case | device µs | call µs | × eager | × compile | roofline | L2 |" in text
    assert "| 4096x781 f32 | 14.3 ±0.1 | 20.8 | ▲ 1.41 ±0.02 | ▲ 1.24 ±0.01 | 62% memory | cold |" in text
    assert "- ▲ 1.32× ±0.03 eager, geomean of 5/5 · fast_1 4/5 · fast_1.5 2/5 · fast_2 0/5" in text
    assert "1.41" not in run_markdown(timed("wrong_while_timed"), strip_context, glyphs=UNICODE)


# Nothing to show


def test_empty_tab_states_reason_and_next_step(candidate: Candidate, plan: Plan, problem: Problem, timed: Any) -> None:
    unsupported = StageFinished(
        at_s=0.5, stage=Stage.BENCHMARK, outcome=Outcome.UNSUPPORTED, elapsed_s=0.0, message="no precise timer here"
    )
    stopped = Verdict(outcome=Outcome.CANCELLED, sentence="cancelled", passed=3, total=8)
    begun = RunStarted(
        at_s=0.0, problem=problem.name, digest="d", device="cuda", device_name="H100", target=None, cases=8
    )
    said = [
        why_nothing(view, problem)
        for view in (
            NO_RUN,
            timed("verified_only"),
            timed("fails_before_it_is_timed"),
            reduce_all(NO_RUN, [begun]),
            reduce_all(NO_RUN, [begun, StageStarted(at_s=0.4, stage=Stage.BENCHMARK, total=2)]),
            reduce_all(NO_RUN, [begun, unsupported]),
            reduce_all(NO_RUN, [begun, RunFinished(at_s=1.0, verdict=stopped)]),
        )
    ]
    assert said == [
        "nothing timed yet: b times the bench cases",
        "nothing timed yet: b times the bench cases",
        "nothing was timed: only passing candidates are timed; see the cases",
        "the bench cases are timed once all cases pass",
        "the first bench case is being timed",
        "nothing was timed: no precise timer here",
        "nothing was timed: the run ended first (cancelled); b times the bench cases",
    ]
    _, without, _ = fakes.catalogue()
    assert why_nothing(NO_RUN, without) == "vllm::rms_norm has no bench cases, so there is nothing to time"


def test_untimed_cases_are_rows(problem: Problem) -> None:
    rows = rows_of(problem, NO_RUN, NOTHING_MEASURED)
    columns = bench_columns(problem, NOTHING_MEASURED, glyphs=UNICODE)
    assert texts(rows[0])[:3] == ["1024x256 f32", "· not timed", "–"]
    assert {len(row.cells) for row in rows} == {len(columns)}


def test_work_of_bench_cases_is_shown_without_clock(problem: Problem, timed: Any) -> None:
    assert [texts(row) for row in cost_rows(problem, glyphs=UNICODE)][:2] == [
        ["1024x256 f32", "2 MiB", "1.31 M", "0.625", "1 MiB", "1 MiB"],
        ["4096x781 f32", "24 MiB", "16.0 M", "0.625", "12 MiB", "12 MiB"],
    ]
    assert plain_text(static_lines(timed("verified_only"))) == (
        "softmax_kernel  4 warps, 3 stages, sm_90\n"
        "          40 registers, no spills, 16 B shared, occupancy 75% by registers"
    )
    assert "unknown" in plain_text(static_lines(NO_RUN))


def test_unknown_work_of_foreign_problem_is_dashes(problem: Problem) -> None:
    suite = SuiteOrigin(suite="kernelbench", form=CandidateForm.MODULE, own_rule="")
    (row, *_) = cost_rows(replace(problem, suite=suite), glyphs=UNICODE)
    assert texts(row) == ["1024x256 f32", "–", "–", "–", "–", "–"]


def test_specialisations_are_grouped_by_resources_largest_first(timed: Any) -> None:
    small = fakes.compiled()
    large, broken = (
        replace(small, registers=90),
        replace(small, outcome=Outcome.COMPILE_ERROR, message="no such instruction", registers=None, spill_bytes=None),
    )
    view = replace(timed("verified_only"), kernels=(small, large, small, broken, small))
    assert plain_text(static_lines(view)).splitlines() == [
        "softmax_kernel  4 warps, 3 stages, sm_90  5 specialisations, largest first",
        "1 of 5    does not build: no such instruction",
        "1 of 5    90 registers, no spills, 16 B shared, occupancy 31% by registers",
        "3 of 5    40 registers, no spills, 16 B shared, occupancy 75% by registers",
    ]


def test_kernels_left_out_are_counted_below(timed: Any) -> None:
    view = replace(timed("verified_only"), kernels_planned=35)
    assert plain_text(static_lines(view)).splitlines()[-1] == (
        "34 of 35 kernels not compiled: the run ended early; T compiles all"
    )


def test_smallest_of_many_specialisations_are_only_counted(timed: Any) -> None:
    kernels = tuple(replace(fakes.compiled(), registers=count) for count in (*range(20, 30), 20))
    drawn = plain_text(static_lines(replace(timed("verified_only"), kernels=kernels))).splitlines()
    assert (drawn[1].split()[:4], drawn[-1]) == (
        ["1", "of", "11", "29"],
        "          and 5 that take less, which the IR tab lists",
    )
