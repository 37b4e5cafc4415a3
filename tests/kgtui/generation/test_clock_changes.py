"""The system clock is set an hour forward or back between a kill and the resume: budget, order and costs stay right."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from kgtui.generation.events import AnswerStored, CandidateVerified
from kgtui.generation.strategies import StrategyOptions
from sessions.candidates.generation_rows import CostBy, Ending, Limits
from tests.kgtui.generation.fakes import answer

ROUNDS = {"strategy": "refine", "options": StrategyOptions(rounds=3, target_speedup=9.0)}
PLACES = ["round-1", "round-2", "round-3"]
COST = 200  # 100 x 1 + 50 x 2 microusd
JUMPS = pytest.mark.parametrize("jump", [timedelta(hours=1), timedelta(hours=-1)], ids=["forward", "back"])


class Killed(BaseException):
    """Stands in for the end of the process."""


@pytest.fixture
def killed(bench):
    """Runs a batch of three rounds up to its second event of a kind; each answer and each run takes ten seconds."""
    bench.provider.answers = [answer("fast 2"), answer("wrong"), answer("fast 3")]

    async def run(kind):
        def take_time(event):
            if isinstance(event, AnswerStored | CandidateVerified):
                bench.elapsed_s += 10.0
            if len(bench.of(kind)) == 2:
                raise Killed

        bench.on_event = take_time
        with pytest.raises(Killed):
            await bench.run(**ROUNDS)
        bench.on_event = lambda event: None
        bench.crash()
        bench.elapsed_s = 5_000.0  # a monotonic clock starts anywhere in another process

    return run


@JUMPS
@pytest.mark.parametrize("kind", [AnswerStored, CandidateVerified])
async def test_resumed_batch_keeps_order_and_costs(bench, killed, jump, kind):
    await killed(kind)
    bench.now += jump
    ended = await bench.run(**ROUNDS, resume=bench.number)
    assert ended.ending is Ending.FINISHED
    assert [row.place for row in bench.rows] == PLACES
    assert [row.run.number for row in bench.rows] == [1, 2, 3]
    (costs,) = bench.store.generations.costs(CostBy.MODEL)
    assert (costs.answers, costs.cost_microusd, costs.engine_s) == (3, 3 * COST, 3.0)
    assert bench.budget.spent.microusd == 3 * COST


@JUMPS
async def test_time_before_the_kill_counts_against_budget(bench, killed, jump):
    bench.limits = Limits(seconds=35.0)
    await killed(CandidateVerified)
    bench.now += jump
    assert bench.store.generations.batch(bench.number).worked_s == 30.0
    bench.elapsed_s, bench.on_event = 0.0, lambda event: _pass(bench)
    ended = await bench.run(**ROUNDS, resume=bench.number)
    assert (ended.ending, ended.message) == (Ending.BUDGET, "the time budget of 35 s is used up")
    assert len(bench.rows) == 2


def _pass(bench):
    bench.elapsed_s += 5.0


async def test_costs_by_day_are_of_the_day_in_utc(bench, killed):
    bench.now = datetime(2026, 1, 2, 0, 30, tzinfo=UTC)
    await killed(CandidateVerified)
    bench.now -= timedelta(hours=1)
    await bench.run(**ROUNDS, resume=bench.number)
    days = bench.store.generations.costs(CostBy.DAY)
    assert [(row.group, row.answers, row.cost_microusd) for row in days] == [
        ("2026-01-01", 1, COST),
        ("2026-01-02", 2, 2 * COST),
    ]
