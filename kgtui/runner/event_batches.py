"""The events of a run in batches, at the pace of the consumer.

The engine's stream is the only buffer of events: it accepts events without waiting, and keeps them for a slow consumer.
A batch is all events since the previous one.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from engine.model import Outcome
from engine.model.events import CaseFinished, Event, RunFinished, TierFinished

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

# Events stored and drawn at once: few enough to handle keys in between.
MOST_EVENTS = 500


async def event_batches(
    events: AsyncGenerator[Event, None], *, pace_s: float
) -> AsyncGenerator[tuple[Event, ...], None]:
    """The events in order, at most one batch every `pace_s`.

    The first event, the first failed case, the end of a tier and the verdict do not wait.
    Closes `events` in any case.
    """
    loop = asyncio.get_running_loop()
    reading, waits_s, is_failed = asyncio.create_task(_next_of(events)), 0.0, False
    try:
        while (event := await reading) is not None:
            batch, until_s = [event], loop.time() + waits_s
            reading = asyncio.create_task(_next_of(events))
            while not _is_full(batch, is_failed=is_failed) and await _arrives(reading, until_s):
                event = reading.result()
                assert event is not None
                batch.append(event)
                reading = asyncio.create_task(_next_of(events))
            is_failed = is_failed or _is_failure(batch[-1])
            waits_s = pace_s
            yield tuple(batch)
    finally:
        await _end(reading)
        # Closed here: the garbage collector would close it at an unknown time, concurrently with its source.
        await events.aclose()


async def _next_of(events: AsyncGenerator[Event, None]) -> Event | None:
    return await anext(events, None)


def _is_full(batch: list[Event], *, is_failed: bool) -> bool:
    """Whether the batch is not to wait for more; `is_failed` is whether a failed case was in one before."""
    last = batch[-1]
    is_due = isinstance(last, RunFinished | TierFinished) or (not is_failed and _is_failure(last))
    return is_due or len(batch) >= MOST_EVENTS


def _is_failure(event: Event) -> bool:
    return isinstance(event, CaseFinished) and event.result.outcome is not Outcome.PASS


async def _arrives(reading: asyncio.Task[Event | None], until_s: float) -> bool:
    """Whether another event arrives by then; False at the end of the stream, and for its error."""
    await asyncio.sleep(0)  # lets other tasks run, and a ready event arrive
    left_s = until_s - asyncio.get_running_loop().time()
    if not reading.done() and left_s > 0:
        await asyncio.wait([reading], timeout=left_s)
    return reading.done() and reading.exception() is None and reading.result() is not None


async def _end(task: asyncio.Task[Event | None]) -> None:
    """Cancel the task and wait for its end, even if the caller is cancelled again meanwhile."""
    task.cancel()
    while not task.done():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait([task])
    if not task.cancelled():
        task.exception()  # asyncio warns of an exception that is never retrieved
