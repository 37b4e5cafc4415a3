"""Overviews of a store: problems, recent files and sessions, all read from an index."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.model import Outcome
from sessions import RunFilter
from tests.sessions.queries.expected import TWO_PASSED, ids

FILE = Path("/home/user/softmax.py")


def test_every_problem_is_summed_up_last_touched_first(store, judge, begin):
    judge(cases={"a": Outcome.PASS})
    best = judge(cases=TWO_PASSED)
    judge(cases={"a": Outcome.PASS})
    judge(Outcome.TIMEOUT, problem="aten::add")
    running = begin()
    summaries = store.last_by_problem()
    assert list(summaries) == ["aten::softmax", "aten::add"]
    assert (summaries["aten::softmax"].runs, summaries["aten::softmax"].best_id) == (4, best)
    assert summaries["aten::softmax"].last == store.run(running - 2)
    assert (summaries["aten::add"].runs, summaries["aten::add"].best_id) == (1, None)
    assert summaries["aten::add"].last.outcome is Outcome.TIMEOUT


def test_last_verdict_ignores_selected_and_cancelled_runs(store, judge, begin):
    begin()
    assert store.last_by_problem()["aten::softmax"].last.id == 1  # none has a verdict yet
    whole = judge(cases=TWO_PASSED)
    judge(Outcome.WRONG_VALUE, cases={"a": Outcome.WRONG_VALUE}, tiers=())
    judge(Outcome.CANCELLED)
    begin()
    assert store.last_by_problem()["aten::softmax"].last.id == whole
    assert [file.run.id for file in store.recent_files()] == [whole]


def test_run_answering_a_save_is_last_verdict(store, judge, clock):
    right = judge(cases=TWO_PASSED)
    judge(Outcome.WRONG_VALUE)
    clock.pass_time(minutes=5)
    store.note_answer(right, path=FILE)
    judge(Outcome.CANCELLED)
    summary = store.last_by_problem()["aten::softmax"]
    assert (summary.last.id, summary.touched_at) == (right, clock.now)
    assert [file.run.id for file in store.recent_files()] == [right]
    later = judge(Outcome.TIMEOUT)
    assert store.last_by_problem()["aten::softmax"].last.id == later
    assert [file.run.id for file in store.recent_files()] == [later]
    store.delete_run(right)
    assert store.last_by_problem()["aten::softmax"].last.id == later


def test_save_answered_by_run_of_another_file_belongs_to_its_path(store, judge):
    right = judge(cases=TWO_PASSED)
    copy = Path("/k/copy.py")
    store.note_answer(right, path=copy)
    assert [(file.path, file.run.id) for file in store.recent_files()] == [(copy, right), (FILE, right)]
    wrong = judge(Outcome.WRONG_VALUE)
    store.note_answer(right, path=copy)
    assert {file.path: file.run.id for file in store.recent_files()} == {copy: right, FILE: wrong}
    store.delete_run(right)
    assert [file.path for file in store.recent_files()] == [FILE]


@pytest.mark.parametrize("is_reversed", [False, True])
def test_newest_of_several_answering_runs_is_last_verdict(store, judge, clock, is_reversed):
    runs = [judge(cases=TWO_PASSED), judge(Outcome.WRONG_VALUE)]
    for run in reversed(runs) if is_reversed else runs:
        clock.pass_time(minutes=5)
        store.note_answer(run, path=FILE)
    summary = store.last_by_problem()["aten::softmax"]
    assert (summary.last.id, summary.touched_at) == (run, clock.now)
    assert [file.run.id for file in store.recent_files()] == [run]


def test_recent_files_are_listed_once_by_newest_run(store, begin):
    begin(path=Path("/k/a.py"))
    begin(path=Path("/k/b.py"))
    begin(path=None)
    newest = begin(path=Path("/k/a.py"), problem="aten::add")
    files = store.recent_files()
    assert [(file.path, file.run.problem, file.run.id) for file in files] == [
        (Path("/k/a.py"), "aten::add", newest),
        (Path("/k/b.py"), "aten::softmax", 2),
    ]
    assert [file.path for file in store.recent_files(limit=1)] == [Path("/k/a.py")]


def test_undecodable_file_name_is_read_back_unchanged(store, begin, judge):
    odd = Path(os.fsdecode(b"/k/\xff.py"))
    run_id = judge(Outcome.WRONG_VALUE, cases={"a": Outcome.WRONG_VALUE}, path=odd)
    assert store.run(run_id).path == odd
    assert store.recent_files()[0].path == odd
    assert store.failed_cases("aten::softmax", path=odd) == ("a",)
    assert ids(store.runs(RunFilter(path=odd))) == [run_id]


@pytest.fixture
def plan(store, ask):
    """How SQLite answers a question of the store: the lines of its query plan."""
    planned = []

    def record(statement, values=None):
        planned.extend(row["detail"] for row in asked(f"explain query plan {statement}", values))
        return asked(statement, values)

    asked, store._database.rows = store._database.rows, record
    return planned


def test_session_totals_use_only_index(store, plan):
    store.sessions(limit=20)
    of_runs = [line for line in plan if " runs" in line]
    assert of_runs[0] == "SEARCH runs USING COVERING INDEX runs_by_session (session=?)"  # how many
    assert of_runs[1:] == ["SEARCH runs USING COVERING INDEX runs_totals (session=?)"] * 4


def test_session_runs_use_index_order(store, session_id, plan):
    store.runs_after(0, session_id=session_id)
    assert "SEARCH runs USING INDEX runs_by_session (session=? AND rowid>?)" in plan
    assert not any("TEMP B-TREE" in line for line in plan)


@pytest.mark.parametrize(
    ("wanted", "index"),
    [
        (RunFilter(), None),
        (RunFilter(session=1), "runs_by_session (session=?)"),
        (RunFilter(problem="aten::softmax"), "runs_by_problem (problem=?)"),
        (RunFilter(path=Path("/k.py")), "runs_by_path (path=?)"),
        (RunFilter(tag="kept"), "runs_by_tag (tag=?)"),
    ],
)
def test_a_list_of_runs_is_never_sorted(store, plan, wanted, index):
    store.runs(wanted, limit=20)
    assert not any("TEMP B-TREE" in line for line in plan)
    assert ("SCAN runs" if index is None else f"SEARCH runs USING INDEX {index}") in plan
