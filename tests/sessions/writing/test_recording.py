"""What the tables hold after a run, asked with plain SQL as a person would."""

from __future__ import annotations

import dataclasses
import sqlite3

import pytest

from engine.errors import StoreError
from engine.model import Outcome, Stage
from engine.model.events import RunStarted, StageStarted
from sessions import RunState, Store
from tests.generated import Generation, add_generation


@pytest.fixture
def run_id(store: Store, begin, whole_run) -> int:
    number = begin()
    for event in whole_run:
        store.record(number, event)
    return number


def test_replayed_events_are_the_recorded_events(store, run_id, whole_run):
    assert tuple(store.events(run_id)) == whole_run


def test_each_event_is_committed_when_record_returns(store, begin, whole_run, ask):
    run_id = begin()
    for count, event in enumerate(whole_run, start=1):
        assert store.record(run_id, event) == count
        assert ask("select count(*) from events") == [(count,)]


def test_run_starts_with_detected_environment(store, begin):
    run_id = begin(device="cuda:0", target=None)
    started = RunStarted(
        at_s=0.0, problem="aten::softmax", digest="d", device="cuda:0", device_name="H100", target="sm_90", cases=9
    )
    store.record(run_id, started)
    run = store.run(run_id)
    assert (run.device, run.device_name, run.target, run.passed, run.total) == ("cuda:0", "H100", "sm_90", 0, 9)


def test_passed_cases_are_counted_during_the_run(store, begin, whole_run):
    run_id = begin()
    for event in whole_run[:7]:
        store.record(run_id, event)
    run = store.run(run_id)
    assert (run.state, run.outcome, run.passed, run.total, run.elapsed_s) == (RunState.RUNNING, None, 1, 2, 0.5)


def test_the_verdict_ends_the_run(store, run_id):
    run = store.run(run_id)
    assert run.state is RunState.FINISHED
    assert (run.outcome, run.sentence) == (Outcome.WRONG_VALUE, "1 of 2 cases passed")
    assert (run.passed, run.total, run.flagged, run.elapsed_s) == (1, 2, False, 1.25)


def test_case_keeps_seed_and_worst_element(run_id, ask):
    columns = "name, tier, outcome, seed, line, output, mismatched, elements, nonfinite, worst_index, worst_expected"
    assert ask(f"select {columns}, worst_got from cases order by seq") == [
        ("4x8 f32", "smoke", "pass", "18446744073709551615", *(None,) * 8),
        (
            "1x131072 f32", "smoke", "wrong_value", "18446744073709551615", 41, "return", 3, 131072, 1, "0,131071",
            "0.5", "nan",
        ),
    ]  # fmt: skip
    errors = "select max_absolute_error, max_relative_error, max_ulp_error from cases where outcome = 'wrong_value'"
    assert ask(errors) == [(0.031, 0.5, 9000.0)]


def test_finding_is_stored_with_unchanged_text(run_id, ask):
    assert ask("select seq, check_name, severity, message, line, case_name from findings") == [
        (3, "handler", "hint", "x[0] | a [bold]handler[/]", 7, "1x8 f32")
    ]


def test_a_stage_leaves_a_timing_with_its_unit(run_id, ask):
    assert ask("select seq, name, case_name, value from timings") == [(8, "verify_s", None, 0.7)]


def test_a_compiled_kernel_leaves_its_resources_and_artefacts(run_id, ask):
    assert ask("select seq, name, target, num_warps, registers, spill_bytes, shared_bytes from kernels") == [
        (9, "softmax_kernel", "sm_90", 4, 32, 0, None)
    ]
    assert ask("select seq, kind, digest, bytes from artefacts order by kind") == [
        (9, "ptx", "a" * 64, 1000),
        (9, "sass", "b" * 64, 2000),
    ]


def test_repeated_case_counts_once_with_last_result(store, begin, whole_run, ask):
    run_id = begin()
    passed = whole_run[5]
    failed = dataclasses.replace(passed, result=dataclasses.replace(passed.result, outcome=Outcome.TIMEOUT))
    for event in (failed, passed, passed):
        store.record(run_id, event)
    assert store.run(run_id).passed == 1
    assert ask("select outcome, seq from cases") == [("pass", 3)]


def test_a_run_lasts_until_its_latest_event(store, begin, whole_run):
    run_id = begin()
    store.record(run_id, whole_run[4])
    store.record(run_id, whole_run[1])
    assert store.run(run_id).elapsed_s == 0.4


def test_a_failed_record_leaves_nothing_of_its_event(store, path, ask, begin, whole_run):
    run_id = begin()
    breaker = sqlite3.connect(path)
    breaker.execute("create trigger refuse before insert on findings begin select raise(abort, 'refused'); end")
    breaker.close()
    with pytest.raises(StoreError, match="refused"):
        store.record(run_id, whole_run[2])
    assert ask("select count(*) from events") == [(0,)]
    assert store.record(run_id, whole_run[1]) == 1


def test_an_event_of_no_run_is_refused(store, ask):
    with pytest.raises(StoreError, match="FOREIGN KEY"):
        store.record(7, StageStarted(at_s=0.0, stage=Stage.LOAD))
    assert ask("select count(*) from events") == [(0,)]


def test_source_is_stored_once_with_its_bytes(store, begin, ask):
    source = b"\xff\x00 not text \r\n"
    first, second = begin(source=source), begin(source=source)
    assert store.run(first).digest == store.run(second).digest
    assert ask("select count(*), typeof(source) from candidates") == [(1, "blob")]
    assert store.source(store.run(first).digest) == source


def test_a_generation_keeps_tokens_cost_and_source(store, session_id, ask):
    answered = Generation(
        problem="aten::softmax",
        provider="a provider",
        model="a model",
        prompt_tokens=1000,
        completion_tokens=200,
        cost_microusd=4500,
        source=b"def softmax(x): ...\n",
        elapsed_s=2.5,
    )
    assert add_generation(store, session_id, answered) == 1
    assert ask("""select model, prompt_tokens, completion_tokens, cost_microusd, elapsed_s, cast(source as text)
        from generations join candidates on candidates.digest = generations.candidate""") == [
        ("a model", 1000, 200, 4500, 2.5, "def softmax(x): ...\n")
    ]
    session = store.session(session_id)
    assert (session.prompt_tokens, session.completion_tokens, session.cost_microusd) == (1000, 200, 4500)


def test_generation_without_source_or_price_is_stored(store, session_id, ask):
    answered = Generation(
        problem="aten::softmax",
        provider="a provider",
        model="a model",
        prompt_tokens=10,
        completion_tokens=0,
        cost_microusd=None,
        source=None,
        elapsed_s=0.5,
    )
    add_generation(store, session_id, answered)
    assert ask("select candidate, cost_microusd from generations") == [(None, None)]
    assert store.session(session_id).cost_microusd is None
