"""Events of a run reduced to one record: in one batch, one by one, from the store."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.model import (
    Candidate,
    Outcome,
    Plan,
    Stage,
    Stream,
    Verdict,
)
from engine.model.events import (
    LogWritten,
    RunFinished,
    StageFinished,
    StageStarted,
    from_json,
    to_json,
)
from engine.reports.reducer import reduce_all
from engine.reports.run_record import NO_RUN
from tests.kgtui import fakes
from tests.kgtui.fakes import timed_runs
from tests.kgtui.state.strip_lines import started, view_of


def test_batch_gives_same_view_as_single_events(candidate: Candidate, plan: Plan) -> None:
    events = fakes.some_fail(candidate, plan)
    one_by_one = NO_RUN
    for event in events:
        one_by_one = reduce_all(one_by_one, (event,))
    assert one_by_one == view_of(events)


def test_replay_of_stored_events_gives_same_view(candidate: Candidate, plan: Plan) -> None:
    for script in (fakes.all_pass, fakes.some_fail, fakes.suspicious):
        events = script(candidate, plan)
        assert view_of([from_json(to_json(event)) for event in events]) == view_of(events)


@pytest.mark.parametrize("script", ["all_timed", "two_baselines", "times_two_of_five", "waits_for_the_device"])
def test_replay_of_timed_run_gives_same_view(candidate: Candidate, script: str) -> None:
    events = getattr(timed_runs, script)(candidate, timed_runs.bench_plan(timed_runs.timed_problem()))
    one_by_one = NO_RUN
    for event in events:
        one_by_one = reduce_all(one_by_one, (from_json(to_json(event)),))
    assert one_by_one == view_of(events)


def test_the_view_keeps_benchmarks_summaries_and_the_profile(candidate: Candidate) -> None:
    view = view_of(timed_runs.all_timed(candidate, timed_runs.bench_plan(timed_runs.timed_problem())))
    assert [one.case for one in view.benchmarks][::4] == ["1024x256 f32", "16384x8192 bf16"]
    assert (view.benchmarks_planned, view.summaries) == (5, (timed_runs.summary(),))
    assert [span.name for span in view.profile] == ["compile"]
    assert view.benchmark("4096x781 f32") is view.benchmarks[1]


def test_device_holder_is_known_until_benchmark_or_end(candidate: Candidate) -> None:
    waiting = view_of(timed_runs.waits_for_the_device(candidate, timed_runs.bench_plan(timed_runs.timed_problem())))
    assert waiting.holder == timed_runs.HOLDER
    assert reduce_all(waiting, (StageStarted(at_s=2.0, stage=Stage.BENCHMARK, total=5),)).holder is None
    assert reduce_all(waiting, (StageStarted(at_s=2.0, stage=Stage.LOAD),)).holder is None
    verdict = Verdict(outcome=Outcome.CANCELLED, sentence="cancelled", passed=8, total=8)
    assert reduce_all(waiting, (RunFinished(at_s=2.0, verdict=verdict),)).holder is None


def test_next_run_replaces_previous_record(candidate: Candidate, plan: Plan) -> None:
    events = fakes.some_fail(candidate, plan)
    assert view_of(events + events) == view_of(events)


def test_late_machine_code_joins_its_kernel(candidate: Candidate, plan: Plan) -> None:
    view = view_of(fakes.all_pass(candidate, plan))
    assert [artefact.kind for artefact in view.kernels[0].artefacts] == ["ttir", "ptx", "sass"]
    assert (view.finished_s, view.at_s) == (0.42, 0.9)


def test_a_view_is_never_changed(candidate: Candidate, plan: Plan) -> None:
    events = fakes.some_fail(candidate, plan)
    half = view_of(events[:12])
    before = replace(half)
    reduce_all(half, events[12:])
    assert half == before


def test_stage_without_start_is_shown_as_finished() -> None:
    view = reduce_all(NO_RUN, (StageFinished(at_s=0.5, stage=Stage.LOAD, outcome=Outcome.TIMEOUT, elapsed_s=0.2),))
    assert [(stage.stage, stage.started_s, stage.outcome) for stage in view.stages] == [
        (Stage.LOAD, 0.3, Outcome.TIMEOUT)
    ]


def test_the_log_keeps_order_and_streams(candidate: Candidate) -> None:
    texts = [LogWritten(at_s=0.1, stream=Stream.STDOUT, text="a"), LogWritten(at_s=0.2, stream=Stream.STDERR, text="b")]
    view = view_of([started(candidate), *texts])
    assert [(line.stream, line.text) for line in view.log] == [(Stream.STDOUT, "a"), (Stream.STDERR, "b")]


def test_record_is_running_until_a_verdict_or_an_interruption(candidate: Candidate, plan: Plan) -> None:
    halfway = view_of(fakes.stops_half_way(candidate, plan))
    whole = view_of(fakes.all_pass(candidate, plan))
    cut_short = replace(halfway, cut_short=True)
    assert [one.running for one in (NO_RUN, halfway, whole, cut_short)] == [False, True, False, False]
