"""Events in batches: their order, what does not wait, and what closes the stream."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator

import pytest

from engine.model import CaseResult, Outcome, Stream, Tier, Verdict
from engine.model.events import CaseFinished, Event, LogWritten, RunFinished, TierFinished
from kgtui.runner.event_batches import MOST_EVENTS, event_batches

NEVER_S = 1e6
FINISHED = RunFinished(at_s=1.0, verdict=Verdict(outcome=Outcome.PASS, sentence="1/1 cases passed", passed=1, total=1))


def written(number: int) -> LogWritten:
    return LogWritten(at_s=0.0, stream=Stream.STDOUT, text=str(number))


async def ready(*events: Event) -> AsyncGenerator[Event, None]:
    for event in events:
        yield event


async def sizes(events: AsyncGenerator[Event, None], *, pace_s: float = 0.0) -> list[int]:
    return [len(batch) async for batch in event_batches(events, pace_s=pace_s)]


async def test_ready_events_form_one_batch() -> None:
    events = [written(number) for number in range(3)]
    assert [batch async for batch in event_batches(ready(*events), pace_s=0.0)] == [tuple(events)]


async def test_batch_ends_with_the_verdict() -> None:
    assert await sizes(ready(written(1), FINISHED, written(2))) == [2, 1]


async def test_batch_has_a_largest_size() -> None:
    assert await sizes(ready(*[written(1)] * (MOST_EVENTS + 1))) == [MOST_EVENTS, 1]


async def test_first_event_and_verdict_are_sent_at_once() -> None:
    go_on = asyncio.Event()

    async def slow() -> AsyncGenerator[Event, None]:
        yield written(1)
        await go_on.wait()
        yield written(2)
        yield FINISHED
        await asyncio.Event().wait()

    batches = event_batches(slow(), pace_s=NEVER_S)
    async with contextlib.aclosing(batches):
        assert await anext(batches) == (written(1),)
        go_on.set()
        assert await anext(batches) == (written(2), FINISHED)


def judged(outcome: Outcome) -> CaseFinished:
    result = CaseResult(case="c", tier=Tier.SMOKE, outcome=outcome, elapsed_s=0.0, calls=1, seed=1)
    return CaseFinished(at_s=0.0, number=1, total=3, result=result)


TIER = TierFinished(at_s=0.0, tier=Tier.SMOKE, passed=3, total=3)
PASSED, FAILED = judged(Outcome.PASS), judged(Outcome.WRONG_VALUE)


@pytest.mark.parametrize(
    ("later", "batches"),
    [
        ([PASSED, TIER], [[PASSED, TIER]]),
        ([PASSED, FAILED, FAILED, PASSED, TIER], [[PASSED, FAILED], [FAILED, PASSED, TIER]]),
        ([TIER, PASSED, FINISHED], [[TIER], [PASSED, FINISHED]]),
    ],
    ids=["end of a tier", "first failed case", "after a tier"],
)
async def test_tier_and_first_failure_are_sent_immediately(later: list[Event], batches: list[list[Event]]) -> None:
    async def slow() -> AsyncGenerator[Event, None]:
        yield written(1)
        for event in later:
            await asyncio.sleep(0)
            yield event
        await asyncio.Event().wait()

    sent = event_batches(slow(), pace_s=NEVER_S)
    async with contextlib.aclosing(sent):
        assert await anext(sent) == (written(1),)
        assert [list(await anext(sent)) for _ in batches] == batches


async def test_stream_error_follows_its_events() -> None:
    async def broken() -> AsyncGenerator[Event, None]:
        yield written(1)
        raise ZeroDivisionError("oops")

    batches = event_batches(broken(), pace_s=NEVER_S)
    assert await anext(batches) == (written(1),)
    with pytest.raises(ZeroDivisionError, match="oops"):
        await anext(batches)


async def test_closing_early_closes_the_stream() -> None:
    closed = asyncio.Event()

    async def endless() -> AsyncGenerator[Event, None]:
        try:
            yield written(1)
            await asyncio.Event().wait()
        finally:
            closed.set()

    batches = event_batches(endless(), pace_s=0.0)
    assert await anext(batches) == (written(1),)
    await batches.aclose()
    assert closed.is_set()
