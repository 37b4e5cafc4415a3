"""The store in the words of the screen, against the real store in memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.errors import StoreError
from engine.model import BenchmarkPlan, CacheState, Outcome
from engine.model.benchmark import CaseBenchmark, Interval, Method, Timing
from engine.model.events import CaseBenchmarked, Event
from kgtui.history.recorder import StoreRecording
from kgtui.ports.protocols import BestRun
from kgtui.ports.requests import RunRequest
from sessions.rows import RunFilter
from sessions.store import open_memory_store
from tests.kgtui import fakes
from tests.kgtui.fakes import timed_runs


@pytest.fixture
def order() -> RunRequest:
    return RunRequest(
        problem=fakes.softmax_problem(),
        path=Path("/k/softmax.py"),
        content=fakes.SOURCE,
        device="cpu",
        target="sm_90",
    )


@pytest.fixture
def recording() -> StoreRecording:
    return StoreRecording(open_memory_store(clock=lambda: fakes.NOW), label="test", environment={"triton": "3.9.0"})


def recorded(recording: StoreRecording, order: RunRequest, script: Any) -> int:
    number = recording.begin(order)
    recording.record(number, script(order.candidate, order.plan(())))
    return number


def test_a_run_is_kept_whole(recording: StoreRecording, order: RunRequest) -> None:
    number = recorded(recording, order, fakes.some_fail)
    assert list(recording.events(number)) == fakes.some_fail(order.candidate, order.plan(()))
    assert recording.source(order.candidate.digest) == fakes.SOURCE


def test_same_request_is_answered_by_previous_run(recording: StoreRecording, order: RunRequest) -> None:
    number = recorded(recording, order, fakes.all_pass)
    assert recording.cached(order) == number
    assert recording.cached(replace(order, target="sm_80")) is None
    assert recording.cached(replace(order, content=b"new")) is None


def test_answer_is_last_verdict_on_its_operator(recording: StoreRecording, order: RunRequest) -> None:
    right = recorded(recording, order, fakes.all_pass)
    recorded(recording, replace(order, content=b"new"), fakes.some_fail)
    recording.answered(right, order)
    recorded(recording, replace(order, cases=("1x781 f32",)), fakes.some_fail)
    last = recording.last_runs()[order.problem.name]
    assert (last.run.number, last.run.outcome, last.runs) == (right, Outcome.PASS, 3)
    assert recording.recent_files(limit=1)[0].run.number == right


def test_benchmark_request_is_answered_by_timed_run(recording: StoreRecording, order: RunRequest) -> None:
    wanted = BenchmarkPlan(cases=order.problem.cases[:1], baselines=("eager",))
    timed = replace(order, benchmark=wanted)
    recorded(recording, order, fakes.all_pass)
    assert recording.cached(timed) is None
    number = recording.begin(timed)
    verified = fakes.all_pass(order.candidate, timed.plan(()))
    recording.record(number, (*verified[:-1], case_timed(wanted), verified[-1]))
    assert recording.cached(timed) == number
    assert recording.cached(replace(timed, benchmark=replace(wanted, cache=CacheState.WARM))) is None
    assert recording.cached(replace(timed, benchmark=replace(wanted, baselines=("eager", "compile")))) is None
    assert recording.cached(order) == number


def case_timed(plan: BenchmarkPlan) -> Event:
    """The plan's first case, timed beside its first baseline."""
    span = Interval(value=2.0, low=1.0, high=3.0)
    sides = [
        Timing(side=side, method=Method.CUPTI, device_us=span, call_us=span) for side in ("candidate", *plan.baselines)
    ]
    case = CaseBenchmark(
        case=plan.cases[0].name,
        outcome=Outcome.PASS,
        cache=plan.cache,
        elapsed_s=0.1,
        timing=sides[0],
        baselines=tuple(sides[1:]),
    )
    return CaseBenchmarked(at_s=0.3, number=1, total=1, benchmark=case)


def test_run_of_selected_cases_answers_no_whole_request(recording: StoreRecording, order: RunRequest) -> None:
    recorded(recording, replace(order, cases=("4x1 f32",)), fakes.all_pass)
    assert recording.cached(order) is None


def test_untimed_run_answers_no_timing_request(recording: StoreRecording, order: RunRequest) -> None:
    problem = timed_runs.timed_problem()
    verified = replace(order, problem=problem)
    timed = replace(verified, benchmark=timed_runs.bench_plan(problem).benchmark)
    first = recorded(recording, verified, timed_runs.all_timed)
    assert (recording.cached(verified), recording.cached(timed)) == (first, None)
    second = recorded(recording, timed, timed_runs.all_timed)
    assert recording.cached(timed) == second
    recorded(recording, verified, timed_runs.all_timed)
    assert recording.cached(timed) == second


def test_best_run_is_fastest_of_file_on_device(order: RunRequest) -> None:
    store = open_memory_store()
    recording = StoreRecording(store, label="test", environment={"device": "Triton interpreter"})
    problem = timed_runs.timed_problem()
    timed = replace(order, problem=problem, benchmark=timed_runs.bench_plan(problem).benchmark)
    assert recording.best(timed) is None
    number = recorded(recording, timed, timed_runs.all_timed)
    recorded(recording, timed, timed_runs.timed_and_flagged)
    assert recording.best(timed) == BestRun(number=number, baseline="eager", speedup=timed_runs.summary().speedup)
    assert recording.best(replace(timed, path=order.path.with_name("other.py"))) is None
    assert recording.best(replace(timed, benchmark=None)) is None
    elsewhere = StoreRecording(store, label="test", environment={"device": "A GPU"})
    assert elsewhere.best(timed) is None
    older = StoreRecording(store, label="test", environment={"device": "Triton interpreter", "torch": "2.9.0"})
    assert older.best(timed) == BestRun(
        number=number, baseline="eager", speedup=timed_runs.summary().speedup, changed=("torch",)
    )


def test_the_cases_that_failed_are_known_by_file(recording: StoreRecording, order: RunRequest) -> None:
    recorded(recording, order, fakes.some_fail)
    assert recording.failed_cases(order) == ("127x128 f32", "127x128 f16")
    assert recording.failed_cases(replace(order, path=Path("/k/other.py"))) == ()


def test_past_runs_are_listed_newest_first_with_results(recording: StoreRecording, order: RunRequest) -> None:
    recorded(recording, order, fakes.some_fail)
    recording.begin(order)
    cut_short, failed = recording.runs("aten::softmax", limit=10)
    assert (cut_short.number, cut_short.outcome, cut_short.passed, cut_short.elapsed_s) == (2, None, None, None)
    assert (cut_short.is_running, failed.is_running) == (True, False)
    assert (failed.outcome, failed.passed, failed.total, failed.elapsed_s) == (Outcome.WRONG_VALUE, 6, 8, 0.42)
    assert failed.started_at == fakes.NOW


def test_interrupted_run_has_its_counts(order: RunRequest) -> None:
    store = open_memory_store(clock=lambda: fakes.NOW)
    recording = StoreRecording(store, label="test", environment={})
    number = recording.begin(order)
    recording.record(number, fakes.stops_half_way(order.candidate, order.plan(())))
    store.end_session(recording.session())
    (run,) = recording.runs("aten::softmax", limit=10)
    assert (run.is_running, run.outcome, run.elapsed_s) == (False, None, None)
    assert (run.passed, run.total) == (4, 8)


def test_operators_and_files_with_runs_are_known(recording: StoreRecording, order: RunRequest) -> None:
    recorded(recording, order, fakes.all_pass)
    recorded(recording, order, fakes.all_pass)
    assert [(name, last.runs, last.run.number) for name, last in recording.last_runs().items()] == [
        ("aten::softmax", 2, 2)
    ]
    assert [(file.path, file.run.problem, file.run.number) for file in recording.recent_files(limit=5)] == [
        (Path("/k/softmax.py"), "aten::softmax", 2)
    ]


def test_missing_run_is_store_error(recording: StoreRecording) -> None:
    with pytest.raises(StoreError, match="no run #7"):
        recording.events(7)
    with pytest.raises(StoreError, match="no source"):
        recording.source("0" * 64)


def test_reading_history_begins_no_session(recording: StoreRecording) -> None:
    recording.runs("aten::softmax", limit=1)
    recording.last_runs()
    recording.recent_files(limit=1)
    assert recording._store.sessions() == ()


def test_tag_and_note_of_request_are_stored(recording: StoreRecording, order: RunRequest) -> None:
    number = recording.begin(replace(order, tag="tune", note="num_warps=8"))
    plain = recording.begin(order)
    listed = recording.admin.runs(RunFilter(problem=order.problem.name), before=None, after=None, limit=9)
    assert [(one.run.id, one.run.tag, one.run.note) for one in listed] == [
        (plain, None, None),
        (number, "tune", "num_warps=8"),
    ]
