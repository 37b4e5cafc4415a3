"""The answers: lists and pages, what is cached, what failed, what is best."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine.errors import StoreError, UsageError
from engine.model import Finding, Outcome, Policy, Severity, Tier
from engine.model.events import FindingRaised, LayerChecked
from engine.model.layers import Coverage, Layer, LayerReport
from engine.reports.reducer import record_of
from sessions import RunFilter, RunState, open_store


def ids(runs) -> list[int]:
    return [run.id for run in runs]


def test_runs_come_newest_first_and_page_by_id(store, begin):
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
    with pytest.raises(UsageError, match=rf"no run #1 in {path}; it holds no run yet"):
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


class TestCached:
    @pytest.fixture
    def find(self, store, session_id):
        def find_cached(run_id: int, **changed):
            asked = {
                "problem": "aten::softmax",
                "device": "cpu",
                "target": "sm_90",
                "tiers": (Tier.SMOKE,),
                "session_id": session_id,
                **changed,
            }
            found = store.find_cached(store.run(run_id).digest, **asked)
            return found.id if found else None

        return find_cached

    def test_the_newest_finished_run_answers(self, judge, find):
        judge()
        newest = judge(Outcome.WRONG_VALUE)
        assert find(newest) == newest

    @pytest.mark.parametrize("outcome", [Outcome.CANCELLED, Outcome.ENGINE_ERROR, Outcome.UNSUPPORTED])
    def test_run_without_candidate_verdict_does_not_answer(self, judge, find, outcome):
        assert find(judge(outcome)) is None

    def test_a_run_without_a_verdict_does_not(self, begin, find):
        assert find(begin()) is None

    @pytest.mark.parametrize("outcome", [Outcome.CRASHED, Outcome.TIMEOUT, Outcome.OUT_OF_MEMORY])
    def test_run_of_ended_process_answers_nothing(self, judge, find, outcome):
        assert find(judge(outcome)) is None
        assert find(judge(Outcome.WRONG_VALUE, cases={"a": Outcome.WRONG_VALUE, "b": outcome})) is None

    @pytest.mark.parametrize(
        ("coverage", "device", "answers"),
        [
            (Coverage.CHECKED, "cpu", True),
            (Coverage.NOT_CHECKED, "cpu", False),
            (Coverage.ENGINE_FAILED, "cpu", False),
            (Coverage.NOT_ASKED, "cpu", True),
            (Coverage.NOT_AVAILABLE, "cpu", True),
            (Coverage.NOT_AVAILABLE, "cuda", False),
        ],
    )
    def test_run_answers_only_where_each_layer_was_checked(
        self, store, begin, find, whole_run, coverage, device, answers
    ):
        why = "" if coverage is Coverage.CHECKED else "the judge died"
        report = LayerReport(layer=Layer.BEHAVIOUR, by="repeats", coverage=coverage, why=why)
        run_id = begin(device=device)
        for event in (replace(whole_run[0], device=device), LayerChecked(at_s=1.0, report=report), whole_run[-1]):
            store.record(run_id, event)
        assert (find(run_id, device=device) == run_id) is answers

    @pytest.mark.parametrize("outcome", [Outcome.UNSUPPORTED, Outcome.ENGINE_ERROR])
    def test_run_with_a_kernel_not_compiled_answers_nothing(self, store, begin, find, whole_run, outcome):
        run_id = begin()
        kernel = replace(whole_run[8].kernel, outcome=outcome)
        for event in (whole_run[0], replace(whole_run[8], kernel=kernel), whole_run[-1]):
            store.record(run_id, event)
        assert find(run_id) is None

    def test_run_with_machine_note_answers_nothing(self, store, begin, find, whole_run):
        note = Finding(check="offline_compile", severity=Severity.NOTE, message="could not check that k builds")
        run_id = begin()
        for event in (whole_run[0], FindingRaised(at_s=1.0, finding=note), whole_run[-1]):
            store.record(run_id, event)
        assert find(run_id) is None

    def test_run_with_given_seed_answers_nothing(self, store, begin, find, whole_run):
        for is_given in (True, False):
            run_id = begin()
            store.record_all(run_id, (*whole_run[:-1], replace(whole_run[-1], draw_seed=7, seed_given=is_given)))
            assert (find(run_id) == run_id) is not is_given

    def test_a_verdict_by_another_policy_does_not(self, time, find):
        strict = time(policy=Policy.STRICT)
        assert find(strict, device="cuda") is None
        assert find(strict, device="cuda", policy=Policy.STRICT) == strict
        usual = time()
        time(policy=Policy.FACTS_ONLY)
        assert find(strict, device="cuda") == usual
        assert find(strict, device="cuda", policy=Policy.STRICT) == strict

    @pytest.mark.parametrize(
        "changed",
        [
            {"problem": "aten::add"},
            {"device": "cuda:0"},
            {"target": None},
            {"target": "gfx942"},
            {"tiers": (Tier.SMOKE, Tier.FULL)},
        ],
    )
    def test_another_question_is_not_answered(self, judge, find, changed):
        assert find(judge(), **changed) is None

    def test_no_target_matches_no_target(self, judge, find):
        run_id = judge(target=None)
        assert find(run_id, target=None) == run_id

    def test_cases_picked_by_hand_are_never_found(self, judge, find):
        assert find(judge(tiers=()), tiers=()) is None

    def test_another_session_with_the_same_environment_answers(self, store, judge, find):
        run_id = judge()
        same = store.begin_session("later", environment={"torch": "2.13.0", "triton": "3.9.0"})
        assert find(run_id, session_id=same) == run_id

    @pytest.mark.parametrize(
        "environment",
        [
            {"torch": "2.13.0"},
            {"torch": "2.13.0", "triton": "3.6.0"},
            {"torch": "2.13.0", "triton": "3.9.0", "driver": "1"},
        ],
    )
    def test_another_environment_does_not(self, store, judge, find, environment):
        assert find(judge(), session_id=store.begin_session("later", environment=environment)) is None


class TestFailedCases:
    FILE = Path("/home/user/softmax.py")

    def test_those_of_the_newest_run_in_their_order(self, store, judge):
        judge(Outcome.WRONG_VALUE, cases={"old": Outcome.WRONG_VALUE})
        judge(Outcome.WRONG_VALUE, cases={"z": Outcome.TIMEOUT, "b": Outcome.PASS, "a": Outcome.WRONG_VALUE})
        assert store.failed_cases("aten::softmax", path=self.FILE) == ("z", "a")

    def test_none_after_a_run_that_passed(self, store, judge):
        judge(Outcome.WRONG_VALUE, cases={"a": Outcome.WRONG_VALUE})
        judge(cases={"a": Outcome.PASS})
        assert store.failed_cases("aten::softmax", path=self.FILE) == ()

    def test_run_without_cases_keeps_earlier_failures(self, store, judge):
        judge(Outcome.WRONG_VALUE, cases={"a": Outcome.WRONG_VALUE})
        judge(Outcome.COMPILE_ERROR)
        assert store.failed_cases("aten::softmax", path=self.FILE) == ("a",)

    def test_nor_does_a_cancelled_run(self, store, judge):
        judge(Outcome.WRONG_VALUE, cases={"a": Outcome.WRONG_VALUE})
        judge(Outcome.CANCELLED, cases={"b": Outcome.PASS})
        assert store.failed_cases("aten::softmax", path=self.FILE) == ("a",)

    def test_case_unsupported_here_did_not_fail(self, store, judge):
        judge(Outcome.WRONG_VALUE, cases={"a": Outcome.UNSUPPORTED, "b": Outcome.WRONG_VALUE})
        assert store.failed_cases("aten::softmax", path=self.FILE) == ("b",)

    def test_another_file_or_problem_has_its_own(self, store, judge):
        judge(Outcome.WRONG_VALUE, cases={"a": Outcome.WRONG_VALUE})
        judge(Outcome.WRONG_VALUE, cases={"n": Outcome.WRONG_VALUE}, path=None)
        assert store.failed_cases("aten::softmax", path=Path("/elsewhere.py")) == ()
        assert store.failed_cases("aten::add", path=self.FILE) == ()
        assert store.failed_cases("aten::softmax", path=None) == ("n",)


TWO_PASSED = {"a": Outcome.PASS, "b": Outcome.PASS}


class TestBest:
    def test_there_is_none_before_a_run_passed(self, store, judge):
        judge(Outcome.WRONG_VALUE, cases=TWO_PASSED)
        assert store.best("aten::softmax") is None

    def test_best_run_passed_most_cases_and_is_newest(self, store, judge):
        judge(cases=TWO_PASSED)
        wide = judge(cases=TWO_PASSED)
        judge(cases={"a": Outcome.PASS})
        assert store.best("aten::softmax").id == wide

    def test_run_without_policy_verdict_is_never_best(self, store, time):
        judged = time(policy=Policy.STRICT)
        time(policy=Policy.FACTS_ONLY)
        assert store.best("aten::softmax").id == judged
        assert store.last_by_problem()["aten::softmax"].best_id == judged

    def test_a_flagged_run_is_never_best(self, store, judge):
        honest = judge(cases={"a": Outcome.PASS})
        judge(cases=TWO_PASSED, flagged=True)
        assert store.best("aten::softmax").id == honest


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
    store.note_answer(right)
    judge(Outcome.CANCELLED)
    summary = store.last_by_problem()["aten::softmax"]
    assert (summary.last.id, summary.touched_at) == (right, clock.now)
    assert [file.run.id for file in store.recent_files()] == [right]
    later = judge(Outcome.TIMEOUT)
    assert store.last_by_problem()["aten::softmax"].last.id == later
    assert [file.run.id for file in store.recent_files()] == [later]
    store.delete_run(right)
    assert store.last_by_problem()["aten::softmax"].last.id == later


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

    def test_of_an_ended_session_it_is_interrupted(self, store, begin, session_id):
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


@pytest.fixture
def plan(store, ask):
    """How SQLite answers a question of the store: the lines of its query plan."""
    planned = []

    def record(statement, values=None):
        planned.extend(row["detail"] for row in asked(f"explain query plan {statement}", values))
        return asked(statement, values)

    asked, store._database.rows = store._database.rows, record
    return planned


def test_session_totals_come_from_index_alone(store, plan):
    store.sessions(limit=20)
    of_runs = [line for line in plan if " runs" in line]
    assert of_runs[0] == "SEARCH runs USING COVERING INDEX runs_by_session (session=?)"  # how many
    assert of_runs[1:] == ["SEARCH runs USING COVERING INDEX runs_totals (session=?)"] * 4


def test_session_runs_come_from_index_in_order(store, session_id, plan):
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
