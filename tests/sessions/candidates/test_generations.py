"""Batches and generations: stored before they are sent, settled once, summed by group."""

from __future__ import annotations

import contextlib
import sqlite3

import pytest

from engine.errors import StoreError, UsageError
from sessions import open_store
from sessions.candidates.generation_rows import Attempt, CostBy, Ending, GenerationState, Limits, TokenUsage
from tests.generated import NEW_GENERATION, new_generation, settlement

REQUEST = '{"models":["replay:alpha"]}'


@pytest.fixture
def batch(store, session_id):
    return store.generations.begin_batch(session_id, REQUEST, Limits(microusd=2_000_000))


def test_settled_generation_is_read_completely(store, session_id, batch):
    number = store.generations.reserve(session_id, batch, NEW_GENERATION)
    store.generations.settle(number, settlement())
    (row,) = store.generations.of_batch(batch)
    assert (row.state, row.received, row.cost_microusd) == (GenerationState.SETTLED, "an answer", 250)
    assert row.usage == settlement().usage
    assert store.source(row.digest) == settlement().source


def test_settling_generation_twice_is_refused(store, session_id, batch):
    number = store.generations.reserve(session_id, batch, NEW_GENERATION)
    store.generations.settle(number, settlement())
    with pytest.raises(StoreError, match=f"generation {number} is settled already"):
        store.generations.settle(number, settlement(cost_microusd=999))
    assert store.generations.of_batch(batch)[0].cost_microusd == 250


def test_a_place_is_reserved_only_once(store, session_id, batch):
    store.generations.reserve(session_id, batch, NEW_GENERATION)
    with pytest.raises(StoreError):
        store.generations.reserve(session_id, batch, NEW_GENERATION)


def test_refused_request_costs_nothing_and_frees_place(store, session_id, batch):
    number = store.generations.reserve(session_id, batch, NEW_GENERATION)
    store.generations.add_attempt(number, Attempt(number=1, status=500, message="server error", waited_s=2.0))
    store.generations.fail(number, "server error")
    store.generations.reserve(session_id, batch, NEW_GENERATION)
    assert [row.cost_microusd for row in store.generations.of_batch(batch)] == [0, None]
    assert store.generations.attempts(number) == (Attempt(number=1, status=500, message="server error", waited_s=2.0),)


def test_an_unknown_usage_is_stored_as_unknown(store, session_id, batch):
    number = store.generations.reserve(session_id, batch, NEW_GENERATION)
    store.generations.settle(number, settlement(usage=None, cost_microusd=None))
    (row,) = store.generations.of_batch(batch)
    assert (row.usage, row.cost_microusd) == (None, None)


def test_a_place_with_an_answer_is_found(store, session_id, batch):
    assert store.generations.at_place(batch, NEW_GENERATION) is None
    number = store.generations.reserve(session_id, batch, NEW_GENERATION)
    assert store.generations.at_place(batch, NEW_GENERATION) is None
    store.generations.settle(number, settlement())
    assert store.generations.at_place(batch, NEW_GENERATION).id == number
    assert store.generations.at_place(batch, new_generation(place="sample-2")) is None


class TestResuming:
    def test_reservation_of_dead_process_is_lost(self, store, session_id, batch, path):
        store.generations.reserve(session_id, batch, NEW_GENERATION)
        store.end_session(session_id)
        with open_store(path) as other:
            assert other.generations.unfinished_batch(REQUEST) == batch
            other.generations.resume_batch(batch)
            (row,) = other.generations.of_batch(batch)
        assert (row.state, row.cost_microusd, row.reserved_microusd) == (GenerationState.LOST, None, 900)

    def test_a_batch_of_a_living_process_is_refused(self, store, session_id, batch):
        store.generations.reserve(session_id, batch, NEW_GENERATION)
        with pytest.raises(UsageError, match=f"batch {batch} is running in process"):
            store.generations.resume_batch(batch)

    def test_a_finished_batch_is_not_found(self, store, batch):
        store.generations.end_batch(batch, Ending.FINISHED)
        assert store.generations.unfinished_batch(REQUEST) is None

    def test_batch_ended_by_budget_is_unfinished(self, store, batch):
        store.generations.end_batch(batch, Ending.BUDGET)
        assert store.generations.unfinished_batch(REQUEST) == batch


class TestCosts:
    @pytest.fixture(autouse=True)
    def answers(self, store, session_id, batch, judge):
        """Two models, three answers, of which one has no known price and one passed."""
        for place, (model, cost) in enumerate((("alpha", 250), ("alpha", None), ("beta", 70))):
            new = new_generation(model=model, place=f"sample-{place}")
            number = store.generations.reserve(session_id, batch, new)
            store.generations.settle(number, settlement(cost_microusd=cost))
            if place == 0:
                store.generations.attach_run(number, judge())

    def test_costs_by_model_count_unpriced_requests(self, store):
        alpha, beta = store.generations.costs(CostBy.MODEL)
        assert (alpha.group, alpha.answers, alpha.unpriced, alpha.cost_microusd) == ("replay:alpha", 2, 1, 250)
        assert (beta.group, beta.answers, beta.unpriced, beta.cost_microusd) == ("replay:beta", 1, 0, 70)

    def test_costs_count_answers_of_unknown_tokens(self, store, session_id, batch):
        number = store.generations.reserve(session_id, batch, new_generation(model="gamma"))
        store.generations.settle(number, settlement(usage=None))
        counted = {row.group: (row.uncounted, row.input_tokens) for row in store.generations.costs(CostBy.MODEL)}
        assert counted == {"replay:alpha": (0, 200), "replay:beta": (0, 100), "replay:gamma": (1, 0)}

    def test_costs_by_model_count_correct_answers(self, store):
        assert [row.correct for row in store.generations.costs(CostBy.MODEL)] == [1, 0]

    @pytest.mark.parametrize("by", list(CostBy))
    def test_every_grouping_sums_to_the_same(self, store, by):
        rows = store.generations.costs(by)
        assert sum(row.cost_microusd or 0 for row in rows) == 320
        assert sum(row.input_tokens for row in rows) == 300

    def test_deleting_the_run_keeps_the_answer(self, store, batch):
        store.delete_run(1)
        assert [row.run for row in store.generations.of_batch(batch)] == [None, None, None]

    def test_deleting_the_session_deletes_its_batches(self, store, session_id, batch, ask):
        store.end_session(session_id)
        store.delete_session(session_id)
        assert ask("select (select count(*) from batches) + (select count(*) from generations)") == [(0,)]
        assert ask("pragma foreign_key_check") == []


class TestEngineTime:
    """Each run of `judge` takes 1.25 s."""

    @pytest.fixture
    def answer(self, store, session_id, batch):
        """Store an answer of a model that has not been verified."""

        def store_answer(model, place):
            number = store.generations.reserve(session_id, batch, new_generation(model=model, place=place))
            store.generations.settle(number, settlement())
            return number

        return store_answer

    @pytest.fixture
    def engine_s(self, store):
        return lambda: {row.group: row.engine_s for row in store.generations.costs(CostBy.MODEL)}

    def test_run_of_equal_answers_counts_once(self, answer, engine_s, store, judge):
        first = answer("alpha", "sample-1")
        run = judge()
        for number in (first, answer("alpha", "sample-2"), answer("beta", "sample-1")):
            store.generations.attach_run(number, run)
        assert engine_s() == {"replay:alpha": 1.25, "replay:beta": 0.0}

    def test_runs_of_an_agents_saves_count_once(self, answer, engine_s, store, judge):
        number = answer("alpha", "sample-1")
        drafts, final = [judge(), judge()], judge()
        for run in (*drafts, final, drafts[0]):
            store.generations.add_save(number, run)
        store.generations.attach_run(number, final)
        store.generations.attach_run(answer("beta", "sample-1"), drafts[1])
        assert engine_s() == {"replay:alpha": 3.75, "replay:beta": 0.0}

    def test_deleted_run_of_a_save_counts_for_none(self, answer, engine_s, store, judge):
        number = answer("alpha", "sample-1")
        draft = judge()
        store.generations.add_save(number, draft)
        store.generations.attach_run(number, judge())
        store.delete_run(draft)
        assert engine_s() == {"replay:alpha": 1.25}

    @pytest.mark.parametrize("passed_s", [2, -3600])
    def test_run_of_an_earlier_save_counts_for_none(self, answer, engine_s, store, judge, clock, passed_s):
        run = judge()
        clock.pass_time(seconds=passed_s)
        store.generations.attach_run(answer("alpha", "sample-1"), run)
        assert engine_s() == {"replay:alpha": 0.0}

    def test_run_after_clock_was_set_back_counts(self, answer, engine_s, store, judge, clock):
        number = answer("alpha", "sample-1")
        clock.pass_time(hours=-1)
        store.generations.attach_run(number, judge())
        assert engine_s() == {"replay:alpha": 1.25}

    @pytest.mark.parametrize(("passed_s", "expected"), [(0, 1.25), (2, 1.25), (-2, 0.0)])
    def test_older_row_uses_time_of_run(self, answer, engine_s, store, path, judge, clock, passed_s, expected):
        number = answer("alpha", "sample-1")
        clock.pass_time(seconds=passed_s)
        store.generations.attach_run(number, judge())
        with contextlib.closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("update generations set runs_before = null")
        assert engine_s() == {"replay:alpha": expected}


def test_time_of_batch_never_decreases(store, batch):
    for worked_s in (2.5, 4.0, 3.0):
        store.generations.note_worked(batch, worked_s)
    assert store.generations.batch(batch).worked_s == 4.0


@pytest.mark.parametrize(
    "counts",
    [
        {"input_tokens": -1, "output_tokens": 0},
        {"input_tokens": 5, "output_tokens": 0, "cached_tokens": 4, "cache_write_tokens": 2},
        {"input_tokens": 5, "output_tokens": 3, "reasoning_tokens": 4},
    ],
)
def test_contradictory_usage_is_refused(counts):
    with pytest.raises(ValueError, match="tokens"):
        TokenUsage(**counts)


@pytest.mark.parametrize(
    ("ending", "is_left"),
    [(Ending.FINISHED, False), (Ending.BUDGET, True), (Ending.CANCELLED, True), (Ending.FAILED, True)],
)
def test_newest_batch_that_ended_early_is_unfinished(store, batch, ending, is_left):
    store.generations.end_batch(batch, ending)
    found = store.generations.newest_unfinished()
    assert (found is not None and found.id == batch) is is_left


def test_batch_of_running_program_is_not_unfinished(store, batch):
    assert store.generations.newest_unfinished() is None


def test_batch_before_a_finished_one_is_not_unfinished(store, session_id, batch):
    store.generations.end_batch(batch, Ending.CANCELLED)
    newer = store.generations.begin_batch(session_id, REQUEST, Limits())
    store.generations.end_batch(newer, Ending.FINISHED)
    assert store.generations.newest_unfinished() is None
