"""A budget at its boundaries: reserved before, settled after, never exceeded."""

from __future__ import annotations

import asyncio

import pytest

from engine.errors import UsageError
from kgtui.generation.budget import Amount, Budget, BudgetReachedError, Spent, parse_budget, usd_text
from sessions.candidates.generation_rows import Limits


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def budget(clock=None, **limits):
    return Budget(Limits(**limits), clock=clock or Clock())


WORST = Amount(microusd=100, tokens=10)


@pytest.mark.parametrize(("limit", "fits"), [(100, True), (101, True), (99, False)])
async def test_money_up_to_the_limit_is_allowed(limit, fits):
    held = budget(microusd=limit)
    if fits:
        await held.reserve(WORST)
        assert held.in_flight == 1
    else:
        with pytest.raises(BudgetReachedError, match="could cost up to"):
            await held.reserve(WORST)


@pytest.mark.parametrize(("limit", "fits"), [(10, True), (9, False)])
async def test_tokens_up_to_the_limit_are_allowed(limit, fits):
    held = budget(tokens=limit)
    if fits:
        await held.reserve(WORST)
    else:
        with pytest.raises(BudgetReachedError, match="up to 10 tokens"):
            await held.reserve(WORST)


@pytest.mark.parametrize(("elapsed_s", "fits"), [(59.9, True), (60.0, False)])
async def test_time_up_to_the_limit_is_allowed(elapsed_s, fits):
    clock = Clock()
    held = budget(clock, seconds=60.0)
    clock.now_s = elapsed_s
    if fits:
        await held.reserve(WORST)
    else:
        with pytest.raises(BudgetReachedError, match="time budget of 60 s"):
            await held.reserve(WORST)


async def test_sixteen_in_flight_never_exceed_the_budget():
    held, most = budget(microusd=1_600), 0
    answered = asyncio.Event()

    async def one() -> bool:
        nonlocal most
        try:
            await held.reserve(WORST)
        except BudgetReachedError:
            return False
        most = max(most, held.in_flight)
        await answered.wait()
        await held.settle(WORST, Amount(microusd=100, tokens=10))
        return True

    tasks = [asyncio.create_task(one()) for _ in range(20)]
    for _ in range(5):
        await asyncio.sleep(0)
    assert held.in_flight == 16
    answered.set()
    assert sum(await asyncio.gather(*tasks)) == 16
    assert (most, held.spent) == (16, Spent(microusd=1_600, tokens=160))


@pytest.mark.parametrize(
    ("limits", "fits"),
    [
        ({"microusd": 1_600}, 16),
        ({"microusd": 1_599}, 15),
        ({"microusd": 1_601}, 16),
        ({"tokens": 160}, 16),
        ({"tokens": 159}, 15),
        ({"tokens": 161}, 16),
        ({"microusd": 1_600, "tokens": 150}, 15),
        ({"seconds": 60.0}, 17),
        ({}, 17),
    ],
)
async def test_seventeenth_request_in_flight_fits_or_waits(limits, fits):
    held = budget(**limits)
    tasks = [asyncio.create_task(held.reserve(WORST)) for _ in range(17)]
    for _ in range(3):
        await asyncio.sleep(0)
    assert (held.in_flight, sum(task.done() for task in tasks)) == (fits, fits)
    for _ in range(fits):
        await held.settle(WORST, WORST)
    ended = await asyncio.gather(*tasks, return_exceptions=True)
    assert sum(isinstance(one, BudgetReachedError) for one in ended) == 17 - fits
    assert held.spent == Spent(microusd=100 * fits, tokens=10 * fits)


async def test_time_ends_while_sixteen_are_in_flight():
    clock = Clock()
    held = budget(clock, seconds=60.0)
    for _ in range(16):
        await held.reserve(WORST)
    clock.now_s = 60.0
    with pytest.raises(BudgetReachedError, match="time budget of 60 s"):
        await held.reserve(WORST)
    assert held.in_flight == 16


async def test_request_waits_for_budget_of_running_ones():
    held = budget(microusd=150)
    await held.reserve(WORST)
    second = asyncio.create_task(held.reserve(WORST))
    await asyncio.sleep(0)
    assert not second.done()
    await held.settle(WORST, Amount(microusd=50, tokens=10))
    await second
    assert (held.spent.microusd, held.in_flight) == (50, 1)


async def test_unknown_cost_counts_as_worst_case():
    held = budget(microusd=150)
    await held.reserve(WORST)
    await held.settle(WORST, Amount(microusd=None, tokens=10))
    assert held.spent == Spent(microusd=100, tokens=10, unpriced=1)
    with pytest.raises(BudgetReachedError):
        await held.reserve(WORST)


async def test_a_refused_request_frees_its_reservation():
    held = budget(microusd=100)
    await held.reserve(WORST)
    await held.settle(WORST, None)
    assert held.spent == Spent()
    await held.reserve(WORST)


async def test_money_without_a_price_is_refused():
    with pytest.raises(UsageError, match="price of this model is unknown"):
        await budget(microusd=100).reserve(Amount(microusd=None, tokens=10))


async def test_tokens_are_limited_without_a_price():
    held = budget(tokens=10)
    await held.reserve(Amount(microusd=None, tokens=10))
    assert held.in_flight == 1


@pytest.mark.parametrize(
    ("texts", "limits"),
    [
        ((), Limits()),
        (("2usd",), Limits(microusd=2_000_000)),
        (("50ct", "30min"), Limits(microusd=500_000, seconds=1800.0)),
        (("1.5USD", "200000tok", "90s"), Limits(microusd=1_500_000, tokens=200_000, seconds=90.0)),
    ],
)
def test_budget_texts_become_limits(texts, limits):
    assert parse_budget(texts) == limits


@pytest.mark.parametrize("text", ["0usd", "2", "usd", "-1usd", "2eur", "1e5usd", "nanusd", ""])
def test_invalid_budget_is_refused(text):
    with pytest.raises(UsageError, match="--budget"):
        parse_budget((text,))


@pytest.mark.parametrize(
    ("texts", "kind"),
    [(("2usd", "50ct"), "money"), (("1usd", "1usd"), "money"), (("5tok", "9tokens"), "tokens"), (("9s", "1h"), "time")],
)
def test_two_budgets_of_one_kind_are_refused(texts, kind):
    with pytest.raises(UsageError, match=rf"^--budget {texts[1]}: there is a budget in {kind} already"):
        parse_budget(("7min", *texts) if kind != "time" else texts)


@pytest.mark.parametrize("text", ["0.0000001usd", "0.5tok"])
def test_budget_that_rounds_to_nothing_is_refused(text):
    with pytest.raises(UsageError, match=rf"^--budget {text}: a budget of 0 allows no request"):
        parse_budget((text,))


@pytest.mark.parametrize(
    ("microusd", "text"),
    [
        (None, "unknown"),
        (0, "$0.00"),
        (1, "$0.000001"),
        (9_999, "$0.009999"),
        (10_000, "$0.0100"),
        (999_949, "$0.9999"),
        (1_000_000, "$1.00"),
        (12_345_678, "$12.35"),
    ],
)
def test_small_amounts_have_more_digits(microusd, text):
    assert usd_text(microusd) == text


async def test_time_before_resuming_counts_against_budget():
    clock = Clock()
    clock.now_s = 7000.0
    held = Budget(Limits(seconds=60.0), clock=clock, worked_s=50.0)
    clock.now_s += 9.9
    await held.reserve(WORST)
    clock.now_s += 0.1
    with pytest.raises(BudgetReachedError, match="time budget of 60 s is used up"):
        await held.reserve(WORST)
