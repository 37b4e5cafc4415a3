"""Reading a store: pages of runs, one run, sessions and their states."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine.errors import StoreError, UsageError
from engine.model import Outcome, Tier
from engine.reports.reducer import record_of
from sessions import RunFilter, RunState, open_store
from tests.sessions.queries.expected import ids


def test_runs_are_newest_first_and_paged(store, begin):
    numbers = [begin() for _ in range(5)]
    first = store.runs(limit=2)
    second = store.runs(limit=2, before_id=first[-1].id)
    third = store.runs(limit=2, before_id=second[-1].id)
    assert ids(first) + ids(second) + ids(third) == numbers[::-1]


def test_run_arriving_between_pages_moves_nothing(store, begin):
    numbers = [begin() for _ in range(4)]
    first = store.runs(limit=2)
    begin()
    assert ids(first) + ids(store.runs(limit=2, before_id=first[-1].id)) == numbers[::-1]


def test_run_states_its_request(store, begin, session_id):
    run = store.run(begin(tiers=(Tier.FULL, Tier.SMOKE), path=Path("/k/a.py")))
    assert (run.session, run.problem, run.path) == (session_id, "aten::softmax", Path("/k/a.py"))
    assert (run.device, run.target, run.tiers) == ("cpu", "sm_90", (Tier.SMOKE, Tier.FULL))
    assert run.started_at == datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=UTC)


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (RunFilter(), [4, 3, 2, 1]),
        (RunFilter(session=2), [4]),
        (RunFilter(problem="aten::add"), [2]),
        (RunFilter(path=Path("/k/B.py")), [3]),
        (RunFilter(outcome=Outcome.TIMEOUT), [3]),
        (RunFilter(tag="keep"), [1]),
        (RunFilter(since=datetime(2026, 1, 2, 4, tzinfo=UTC)), [4, 3]),
        (RunFilter(text="b.PY"), [3]),
        (RunFilter(text="50% tail"), [2]),
        (RunFilter(text="nowhere"), []),
        (RunFilter(problem="aten::softmax", tag="keep"), [1]),
        (RunFilter(problem="aten::add", tag="keep"), []),
    ],
)
def test_a_filter_narrows_the_list(store, judge, clock, wanted, found):
    store.set_tag(judge(), "keep")
    store.set_note(judge(problem="aten::add"), "the 50% tail")
    clock.pass_time(hours=1)
    judge(Outcome.TIMEOUT, path=Path("/k/B.py"))
    judge(session=store.begin_session("another"))
    assert ids(store.runs(wanted)) == found


def test_unknown_run_names_the_newest_one(store, begin, path):
    with pytest.raises(UsageError, match=rf"no run #1 in {path}; it has no runs yet"):
        store.run(1)
    begin()
    for ask in (store.run, store.events, store.run_record):
        with pytest.raises(UsageError, match=rf"no run #99 in {path}; the newest is #1"):
            ask(99)


def test_unknown_session_names_the_newest_one(store, session_id):
    with pytest.raises(UsageError, match=f"no session 99 in .*; the newest is {session_id}"):
        store.session(99)


def test_unknown_digest_is_reported(store):
    with pytest.raises(UsageError, match="no source with the digest abc"):
        store.source("abc")


def test_event_of_other_version_names_run_and_event(store, begin, whole_run, path):
    import sqlite3

    run_id = begin()
    store.record(run_id, whole_run[0])
    other = sqlite3.connect(path)
    other.execute("""update events set body = '{"event": "MoonPhased"}'""")
    other.commit()
    other.close()
    with pytest.raises(StoreError, match="run #1, event 1: not a run event: 'MoonPhased'"):
        list(store.events(run_id))


def test_record_of_stored_run_equals_its_events(store, begin, whole_run):
    run_id = begin()
    for event in whole_run:
        store.record(run_id, event)
    assert store.run_record(run_id) == record_of(whole_run, number=run_id)


def test_notes_and_tags_can_be_set_and_removed(store, begin):
    run_id = begin()
    store.set_note(run_id, "[bold] is text")
    store.set_tag(run_id, "keep")
    assert (store.run(run_id).note, store.run(run_id).tag) == ("[bold] is text", "keep")
    store.set_note(run_id, None)
    store.set_tag(run_id, None)
    assert (store.run(run_id).note, store.run(run_id).tag) == (None, None)
    with pytest.raises(UsageError, match="no run #9"):
        store.set_note(9, "to nobody")


class TestProofs:
    def test_proof_file_of_run_is_found_by_hash(self, store, begin, whole_run):
        store.record_all(begin(), whole_run)
        assert store.proof_digest(1) == "c" * 64

    def test_run_without_proof_file_is_refused_with_reason(self, store, judge):
        judge()
        with pytest.raises(UsageError, match="run #1 has no proof file: no case of it was proven"):
            store.proof_digest(1)


def test_sessions_are_listed_with_their_totals(store, session_id, judge, clock):
    judge()
    judge(flagged=True)
    judge(Outcome.TIMEOUT, problem="aten::add")
    clock.pass_time(minutes=5)
    empty = store.begin_session("an evening")
    newest, oldest = store.sessions()
    assert (newest.id, newest.label, newest.runs, newest.ended_at) == (empty, "an evening", 0, None)
    assert (oldest.id, oldest.runs, oldest.problems, oldest.passed, oldest.flagged) == (session_id, 3, 2, 1, 1)
    assert oldest.started_at < newest.started_at
    assert store.sessions(limit=1) == (newest,)
    assert store.sessions(before_id=empty) == (oldest,)


def test_a_session_keeps_its_environment(store, session_id):
    assert store.environment(session_id) == {"torch": "2.13.0", "triton": "3.9.0"}


class TestState:
    def test_unfinished_run_of_living_process_is_running(self, store, begin):
        assert store.run(begin()).state is RunState.RUNNING

    def test_open_run_of_ended_session_is_interrupted(self, store, begin, session_id):
        run_id = begin()
        store.end_session(session_id)
        assert store.run(run_id).state is RunState.INTERRUPTED

    def test_closing_store_ends_its_sessions(self, store, begin, path):
        run_id = begin()
        store.close()
        with open_store(path) as reopened:
            assert reopened.run(run_id).state is RunState.INTERRUPTED
            assert reopened.session(1).ended_at is not None

    def test_unfinished_run_of_dead_process_is_interrupted(self, store, begin, path):
        begin()
        process = subprocess.run(
            [sys.executable, "-c", _BEGIN_A_RUN_AND_DIE, str(path)], check=False, capture_output=True, text=True
        )
        assert (process.returncode, process.stderr) == (-9, "")
        assert [run.state for run in store.runs()] == [RunState.INTERRUPTED, RunState.RUNNING]


_BEGIN_A_RUN_AND_DIE = """
import os, pathlib, signal, sys
from engine.model import Candidate, Tier
from sessions import open_store

store = open_store(pathlib.Path(sys.argv[1]))
candidate = Candidate(source=b"", problem="aten::softmax")
store.begin_run(store.begin_session("doomed"), candidate, device="cpu", target=None, tiers=(Tier.SMOKE,), path=None)
os.kill(os.getpid(), signal.SIGKILL)
"""
