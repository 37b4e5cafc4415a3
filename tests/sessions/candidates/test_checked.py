"""Batches of candidates: a result is there exactly when its run has a verdict."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.errors import UsageError
from engine.model import Diagnosis, DiagnosisKind, Explanation, Location, Outcome
from engine.model.events import CaseFinished, RunFinished
from sessions import open_store
from sessions.candidates.checked import ListedCandidate

REQUEST = '{"candidates":"/c"}'
FIRST = ListedCandidate(name="a.py", problem="aten::softmax", sample=1, digest="a")
SECOND = ListedCandidate(name="b.py", problem="aten::softmax", sample=2, digest="b")
REFUSED = ListedCandidate(name="c.py", problem="", sample=1, digest="", refusal="no operator is called c")


@pytest.fixture
def batch(store, session_id):
    return store.checked.begin(session_id, REQUEST, (FIRST, SECOND, REFUSED))


def done(store, batch):
    return [row.candidate.name for row in store.checked.results(batch) if row.is_done]


def test_a_refused_candidate_is_done_at_once(store, batch):
    assert done(store, batch) == ["c.py"]


def test_a_result_is_the_verdict_of_its_run(store, batch, judge):
    store.checked.attach(batch, (1,), judge())
    row, *_ = store.checked.results(batch)
    assert (row.is_done, row.run.number, row.run.outcome) == (True, 1, Outcome.PASS)


def test_result_has_location_and_case_with_diagnosis(store, batch, begin, whole_run):
    location = Location(line=98, column=7)
    found = Diagnosis(kind=DiagnosisKind.MISSING_SCALE, sentence="s", evidence="e", explained=3, wrong=3)

    def told(event, *, case):
        """The event, with a diagnosis of this case, or the location of the verdict."""
        if isinstance(event, RunFinished):
            verdict = replace(event.verdict, location=location, sentence="case second failed")
            return replace(event, verdict=replace(verdict, outcome=Outcome.WRONG_VALUE))
        if not isinstance(event, CaseFinished) or not event.result.outputs:
            return event
        output = replace(event.result.outputs[0], explanation=Explanation(diagnoses=(found,)))
        return replace(event, result=replace(event.result, case=case, outputs=(output,)))

    run = begin()
    *cases, finished = [told(event, case="first") for event in whole_run]
    second = next(told(event, case="second") for event in reversed(whole_run) if isinstance(event, CaseFinished))
    store.record_all(run, [*cases, second, finished])
    store.checked.attach(batch, (1,), run)
    row, other, _ = store.checked.results(batch)
    assert (row.location, row.diagnosed.case, row.diagnosed.outputs[0].explanation.diagnoses) == (
        location, "second", (found,),
    )  # fmt: skip
    assert (other.location, other.diagnosed) == (None, None)


def test_passed_result_has_neither_location_nor_diagnosis(store, batch, judge):
    store.checked.attach(batch, (1,), judge())
    row, *_ = store.checked.results(batch)
    assert (row.location, row.diagnosed) == (None, None)


def test_run_without_verdict_is_not_a_result(store, batch, begin):
    store.checked.attach(batch, (1, 2), begin())
    assert done(store, batch) == ["c.py"]


@pytest.mark.parametrize("outcome", [Outcome.CANCELLED, Outcome.ENGINE_ERROR])
def test_run_without_candidate_verdict_is_not_result(store, batch, begin, whole_run, outcome):
    ended = [
        replace(event, verdict=replace(event.verdict, outcome=outcome)) if isinstance(event, RunFinished) else event
        for event in whole_run
    ]
    run = begin()
    store.record_all(run, ended)
    store.checked.attach(batch, (1,), run)
    assert done(store, batch) == ["c.py"]


class TestResuming:
    def test_results_of_the_same_source_stay(self, store, session_id, batch, judge, path):
        store.checked.attach(batch, (1,), judge())
        store.checked.attach(batch, (2,), judge())
        store.end_session(session_id)
        with open_store(path) as other:
            assert other.checked.newest(REQUEST).id == batch
            session = other.begin_session("check")
            other.checked.resume(batch, session, (replace(FIRST, digest="changed"), SECOND))
            assert done(other, batch) == ["b.py"]
            assert other.checked.batch(batch).session == session

    def test_a_batch_of_a_living_process_is_refused(self, store, batch):
        other = store.begin_session("check")
        with pytest.raises(UsageError, match=f"batch {batch} is running in process"):
            store.checked.resume(batch, other, (FIRST,))

    def test_another_request_has_no_batch(self, store, batch):
        assert store.checked.newest("{}") is None


def test_a_batch_that_ended_has_no_process(store, batch):
    assert store.checked.batch(batch).pid is not None
    store.checked.end(batch)
    row = store.checked.batch(batch)
    assert (row.has_ended, row.pid, row.candidates) == (True, None, 3)


def test_deleted_run_removes_batch_result(store, batch, judge):
    run = judge()
    store.checked.attach(batch, (1,), run)
    store.delete_run(run)
    assert done(store, batch) == ["c.py"]


def test_deleting_the_session_deletes_its_batches(store, session_id, batch, judge, ask):
    store.checked.attach(batch, (1,), judge())
    store.end_session(session_id)
    store.delete_session(session_id)
    assert ask("select (select count(*) from check_batches) + (select count(*) from check_results)") == [(0,)]
    assert ask("pragma foreign_key_check") == []


def test_a_store_that_moved_keeps_the_batch(store, batch, judge, path, ask):
    run = judge()
    store.checked.attach(batch, (1,), run)
    path.unlink()
    assert done(store, batch) == ["a.py", "c.py"]
    store.checked.attach(batch, (2,), run)
    assert done(store, batch) == ["a.py", "b.py", "c.py"]
    assert ask("pragma foreign_key_check") == []
