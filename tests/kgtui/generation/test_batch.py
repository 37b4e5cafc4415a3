"""Batches: every answer stored and run once, also after a kill at any point."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from engine.errors import StoreError
from kgtui.generation.batch import GenerationRequest
from kgtui.generation.budget import Spent
from kgtui.generation.events import AnswerGrew, AnswerStored, BatchEnded, CandidateVerified, RequestRefused, RequestSent
from kgtui.generation.prices import PriceList
from kgtui.generation.progress import NO_BATCH, after
from kgtui.generation.records import ConnectionCutError, ModelName, ProviderError
from kgtui.generation.retrying import wait_seconds
from kgtui.generation.strategies import StrategyOptions, strategy_module, strategy_names
from sessions.candidates.generation_rows import Ending, GenerationState, Limits, Stop
from tests.kgtui.generation.conftest import ALPHA, REQUEST, Bench
from tests.kgtui.generation.fakes import answer

THREE = StrategyOptions(samples=3)
COST = 200  # 100 x 1 + 50 x 2 microusd


class Killed(BaseException):
    """Stands in for the end of the process."""


async def test_every_sample_is_stored_and_run(bench):
    bench.provider.answers = [answer(), answer("wrong"), "no code"]
    ended = await bench.run(options=THREE)
    assert ended.ending is Ending.FINISHED
    assert sorted(row.place for row in bench.rows) == ["sample-1", "sample-2", "sample-3"]
    assert [row.cost_microusd for row in bench.rows] == [COST] * 3
    assert sorted(str(event.outcome) for event in bench.of(CandidateVerified)) == ["pass", "wrong_value"]
    assert bench.budget.spent.microusd == 3 * COST


@pytest.mark.parametrize("strategy", strategy_names())
async def test_strategy_without_success_requests_its_most_answers(bench, strategy):
    options = StrategyOptions(samples=2, rounds=3)
    bench.provider.answers = [answer("wrong")]
    await bench.run(strategy=strategy, options=options)
    assert len(bench.rows) == strategy_module(strategy).most_answers(options)


async def test_answer_is_shown_while_streaming(bench):
    bench.provider.answers = [answer()]
    await bench.run()
    assert "".join(event.text for event in bench.of(AnswerGrew)) == answer() == bench.rows[0].received


async def test_progress_counts_results(bench):
    bench.provider.answers = [answer("fast 1.5"), answer("wrong"), "no code"]
    await bench.run(options=THREE)
    progress = after(replace(NO_BATCH, number=1, total=3), bench.events)
    assert (progress.answered, progress.passed, progress.without_code, progress.best_speedup) == (3, 1, 1, 1.5)
    assert (progress.streaming, progress.is_running, progress.spent.microusd) == ({}, False, 3 * COST)


async def test_answers_that_are_not_needed_leave_total(bench):
    bench.provider.answers = [answer("wrong"), answer()]
    await bench.run(strategy="refine", options=StrategyOptions(rounds=5))
    progress = after(replace(NO_BATCH, number=1, total=5), bench.events)
    assert (progress.answered, progress.total) == (2, 2)


async def test_refusal_is_retried_after_stated_time(bench):
    refused = ProviderError("too many requests", status=429, retries=True, retry_after_s=7.0)
    bench.provider.answers = [refused, answer()]
    ended = await bench.run()
    assert (ended.ending, bench.waits) == (Ending.FINISHED, [7.0])
    assert [(a.number, a.status, a.waited_s) for a in bench.store.generations.attempts(1)] == [
        (1, 429, 7.0),
        (2, 200, 0),
    ]
    assert bench.of(RequestRefused)[0].message == "too many requests"


async def test_a_provider_that_keeps_refusing_costs_nothing(bench):
    bench.provider.answers = [ProviderError("server error", status=500, retries=True)]
    ended = await bench.run()
    assert (ended.ending, len(bench.provider.requests)) == (Ending.FAILED, 6)
    assert ended.message == "openai:alpha on aten::softmax: server error"
    assert [(row.state, row.cost_microusd) for row in bench.rows] == [(GenerationState.FAILED, 0)]
    assert bench.budget.spent.microusd == 0


async def test_a_wrong_key_is_not_retried(bench):
    bench.provider.answers = [ProviderError("check the key", status=401)]
    assert (await bench.run()).ending is Ending.FAILED
    assert len(bench.provider.requests) == 1


async def test_truncated_answer_is_kept_and_not_resent(bench):
    bench.provider.answers = [ConnectionCutError("broke off")]
    await bench.run()
    (row,) = bench.rows
    assert (row.state, row.stop, row.usage, row.cost_microusd) == (GenerationState.SETTLED, Stop.CUT, None, None)
    assert bench.budget.spent.unpriced == 1
    assert bench.budget.spent.microusd == row.reserved_microusd


async def test_request_key_of_any_name_is_a_header(bench):
    bench.provider.answers = [answer()]
    await bench.run(models=(ModelName(provider="openai", model="ünï code/7b?x"),))
    (request,) = bench.provider.requests
    assert request.key == "kgtui/1/aten::softmax/openai:%C3%BCn%C3%AF%20code/7b%3Fx/sample-1"


async def test_missing_usage_is_unknown_and_counts_as_worst(bench):
    bench.provider.answers, bench.provider.usage = [answer()], None
    await bench.run()
    assert bench.rows[0].cost_microusd is None
    assert bench.budget.spent.microusd == bench.rows[0].reserved_microusd > COST


async def test_a_model_without_a_price_is_unknown(bench):
    bench.provider.answers, bench.prices = [answer()], PriceList()
    await bench.run()
    assert (bench.rows[0].cost_microusd, bench.rows[0].reserved_microusd) == (None, None)


@pytest.mark.parametrize("is_priced", [True, False])
async def test_reported_cost_counts_without_a_price(bench, is_priced):
    bench.provider.answers, bench.provider.reported_microusd = [answer()], 31
    bench.prices = bench.prices if is_priced else PriceList()
    await bench.run()
    assert bench.rows[0].cost_microusd == bench.budget.spent.microusd == (COST if is_priced else 31)


@pytest.mark.parametrize("affordable", [0, 1, 2])
async def test_batch_stops_before_budget_is_exceeded(bench, affordable):
    bench.provider.answers = [answer()]
    await bench.run()
    worst = bench.rows[0].reserved_microusd
    bench.limits, bench.concurrency = Limits(microusd=worst - 1 + affordable * COST), 1
    ended = await bench.run(options=THREE)
    assert (ended.ending, len(bench.rows)) == (Ending.BUDGET, affordable)
    assert bench.budget.spent.microusd == affordable * COST <= bench.limits.microusd


async def test_concurrency_is_limited(bench):
    bench.provider.answers, bench.provider.gate, bench.concurrency = [answer()], asyncio.Event(), 2
    running = asyncio.create_task(bench.run(options=StrategyOptions(samples=5)))
    while len(bench.provider.requests) < 2:
        await asyncio.sleep(0)
    for _ in range(50):
        await asyncio.sleep(0)
    assert len(bench.provider.requests) == 2
    bench.provider.gate.set()
    await running
    assert len(bench.rows) == 5


class TestResuming:
    @pytest.mark.parametrize("event", [RequestSent, AnswerGrew, AnswerStored, CandidateVerified])
    async def test_kill_at_any_point_loses_and_repeats_nothing(self, bench, event):
        bench.provider.answers, bench.concurrency = [answer()], 1

        def kill(happened):
            if isinstance(happened, event):
                raise Killed

        bench.on_event = kill
        with pytest.raises(BaseExceptionGroup):
            await bench.run(options=THREE)
        number, before = bench.number, {row.place: row for row in bench.rows if row.state == "settled"}
        bench.crash()
        bench.on_event = lambda happened: None
        ended = await bench.run(options=THREE, resume=number)
        settled = [row for row in bench.rows if row.state == "settled"]
        assert ended.ending is Ending.FINISHED
        assert sorted(row.place for row in settled) == ["sample-1", "sample-2", "sample-3"]
        assert {row.place: row.id for row in settled if row.place in before} == {p: r.id for p, r in before.items()}
        assert all(row.run is not None for row in settled)

    async def test_kill_resends_one_request_at_most(self, tmp_path):
        whole = await self._killed_at(tmp_path / "whole.db", events=None)
        assert (len(whole.provider.requests), whole.budget.spent.microusd) == (3, 3 * COST)
        for events in range(1, len(whole.events) + 1):
            bench = await self._killed_at(tmp_path / f"{events}.db", events=events)
            lost = [row for row in bench.rows if row.state == "lost"]
            settled = [row for row in bench.rows if row.state == "settled"]
            assert sorted(row.place for row in settled) == ["sample-1", "sample-2", "sample-3"], events
            assert 3 <= len(bench.provider.requests) <= min(4, 3 + len(lost)), events
            charged = 3 * COST + sum(row.reserved_microusd for row in lost)
            assert bench.budget.spent.microusd == charged, events

    async def _killed_at(self, path, *, events):
        """A batch of three answers that is killed at its event of this number, then resumed."""
        bench = Bench(path=path, concurrency=1)
        bench.open()
        bench.provider.answers = [answer()]

        def kill(happened):
            if len(bench.events) == events:
                raise Killed

        bench.on_event = kill
        try:
            await bench.run(options=THREE)
        except (BaseExceptionGroup, Killed):
            number = bench.number
            bench.crash()
            bench.on_event = lambda happened: None
            await bench.run(options=THREE, resume=number)
        bench.store.close()
        bench.open()
        return bench

    async def test_resumed_finished_batch_sends_no_request(self, bench):
        bench.provider.answers = [answer()]
        await bench.run(options=THREE)
        bench.crash()
        await bench.run(options=THREE, resume=bench.number)
        assert len(bench.provider.requests) == 3
        assert len(bench.verifier.sources) == 3
        assert bench.budget.spent.microusd == 3 * COST
        assert all(event.is_reused for event in bench.of(CandidateVerified)[3:])

    async def test_cancelled_answer_is_stored_as_received(self, bench):
        bench.provider.answers, bench.provider.gate = [answer()], asyncio.Event()
        running = asyncio.create_task(bench.run())
        while not bench.of(AnswerGrew):
            await asyncio.sleep(0)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        (row,) = bench.rows
        assert (row.stop, row.cost_microusd, row.received) == (Stop.CANCELLED, None, answer().partition(" ")[0])
        assert row.state is GenerationState.LOST
        assert bench.store.generations.batch(bench.number).ending is Ending.CANCELLED
        assert [event.ending for event in bench.of(BatchEnded)] == [Ending.CANCELLED]
        assert after(NO_BATCH, bench.events).spent == Spent(
            microusd=row.reserved_microusd, tokens=row.reserved_tokens, unpriced=1
        )


class TestRefine:
    async def test_report_of_failed_run_is_sent_back(self, bench):
        bench.provider.answers = [answer("wrong"), answer()]
        await bench.run(strategy="refine", options=StrategyOptions(rounds=3))
        second = bench.provider.requests[1].messages
        assert [message.role for message in second] == ["system", "user", "assistant", "user"]
        assert second[2].text == answer("wrong")
        assert "max error 3.1e-2" in second[3].text

    async def test_first_correct_answer_ends_refinement(self, bench):
        bench.provider.answers = [answer("wrong"), answer()]
        await bench.run(strategy="refine", options=StrategyOptions(rounds=3))
        assert [row.place for row in bench.rows] == ["round-1", "round-2"]

    async def test_an_answer_without_code_is_reported_why(self, bench):
        bench.provider.answers = ["no code", answer()]
        await bench.run(strategy="refine", options=StrategyOptions(rounds=3))
        assert "No file was taken from your answer: the answer has no code block" in (
            bench.provider.requests[1].messages[3].text
        )

    async def test_target_speedup_continues_until_met(self, bench):
        bench.provider.answers = [answer("fast 1.1"), answer("fast 2.5"), answer("fast 9")]
        options = StrategyOptions(rounds=5, target_speedup=2.0)
        await bench.run(strategy="refine", options=options)
        assert [row.place for row in bench.rows] == ["round-1", "round-2"]
        assert "Make it faster" in bench.provider.requests[1].messages[3].text

    async def test_flagged_answer_does_not_pass(self, bench):
        bench.provider.answers = [answer("cheat"), answer()]
        await bench.run(strategy="refine", options=StrategyOptions(rounds=3))
        assert len(bench.rows) == 2


class TestEvolve:
    async def test_children_get_the_two_best_as_parents(self, bench):
        bench.provider.answers = [answer("wrong"), answer("fast 1.2"), answer("fast 3"), answer()]
        bench.concurrency = 1
        await bench.run(strategy="evolve", options=StrategyOptions(samples=3, rounds=2))
        asked = [request.messages[-1].text for request in bench.provider.requests[3:]]  # in any order
        (mutation,) = (text for text in asked if "fast 3" in text and "fast 1.2" in text)
        assert mutation.index("fast 3") < mutation.index("fast 1.2")
        assert answer("wrong") not in mutation
        assert len(bench.rows) == 6


async def test_unstorable_answer_ends_the_batch(bench, monkeypatch):
    bench.provider.answers = [answer()]

    def full(*_):
        raise StoreError("the disk is full")

    monkeypatch.setattr(bench.store.generations, "reserve", full)
    ended = await bench.run()
    assert (ended.ending, ended.message) == (Ending.FAILED, "openai:alpha on aten::softmax: the disk is full")
    assert bench.provider.requests == []


async def test_end_that_cannot_be_stored_is_reported(bench, monkeypatch):
    bench.provider.answers = [answer()]

    def full(*_, **__):
        raise StoreError("the disk is full")

    monkeypatch.setattr(bench.store.generations, "end_batch", full)
    ended = await bench.run()
    assert (ended.ending, ended.message) == (Ending.FAILED, "the disk is full")
    assert bench.events[-1] == ended
    assert bench.store.generations.unfinished_batch(REQUEST.to_json()) == bench.number


async def test_unsettled_answer_keeps_no_request_waiting(bench, monkeypatch):
    bench.provider.answers = [answer()]
    await bench.run()
    worst = bench.rows[0].reserved_tokens
    bench.limits = Limits(tokens=2 * worst - 1)

    def full(*_):
        raise StoreError("the disk is full")

    monkeypatch.setattr(bench.store.generations, "settle", full)
    ended = await bench.run(models=(ALPHA, replace(ALPHA, model="beta")))
    assert (ended.ending, bench.budget.in_flight, bench.budget.spent.tokens) == (Ending.FAILED, 0, 300)


async def test_answer_is_stored_if_its_attempt_cannot_be(bench, monkeypatch):
    bench.provider.answers = [answer()]

    def full(*_):
        raise StoreError("the disk is full")

    monkeypatch.setattr(bench.store.generations, "add_attempt", full)
    assert (await bench.run()).ending is Ending.FINISHED
    assert [(row.state, row.received) for row in bench.rows] == [(GenerationState.SETTLED, answer())]


async def test_failed_answer_is_charged_and_requested_again(bench):
    bench.provider.answers, bench.provider.failure = [answer()], "the disk is full"
    ended = await bench.run()
    assert (ended.ending, ended.message) == (Ending.FAILED, "openai:alpha on aten::softmax: the disk is full")
    assert bench.verifier.sources == []
    assert ended.spent == Spent(microusd=COST, tokens=150)
    bench.provider.failure = ""
    await bench.run(resume=bench.number)
    assert [(row.state, row.cost_microusd, row.extraction) for row in bench.rows] == [
        (GenerationState.LOST, COST, "the disk is full"),
        (GenerationState.SETTLED, COST, ""),
    ]
    assert bench.budget.spent == Spent(microusd=2 * COST, tokens=300)


@pytest.mark.parametrize(
    ("attempt", "retry_after_s", "spread", "expected"),
    [(1, None, 0.0, 0.5), (1, None, 1.0, 1.0), (4, None, 1.0, 8.0), (20, None, 1.0, 60.0), (1, 3.0, 0.5, 3.0)],
)
def test_waits_double_up_to_a_minute(attempt, retry_after_s, spread, expected):
    error = ProviderError("x", retries=True, retry_after_s=retry_after_s)
    assert wait_seconds(error, attempt=attempt, spread=spread) == expected


def test_a_request_without_suites_keeps_its_text():
    assert "suites" not in REQUEST.to_json()
    assert GenerationRequest.from_json(REQUEST.to_json()) == REQUEST
    changed = replace(REQUEST, suites=("s",))
    assert GenerationRequest.from_json(changed.to_json()) == changed
