"""Waiting for a future beside a process whose time is counted."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from engine.cpu_time.deadline import Interval
from engine.errors import DeadlineError, MachineBusyError
from engine.processes.waiting import within

SOON_S = 0.001  # between looks, which are scripted


async def wait_beside(*intervals: Interval, limit_s: float = 10.0, done_after: int | None = None) -> int:
    """How many looks it took, with these intervals from the first on and the last one repeated."""
    reply: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    looks = 0

    def script() -> Iterator[Interval]:
        yield from intervals
        while True:
            yield intervals[-1]

    scripted = script()

    def look() -> Interval:
        nonlocal looks
        looks += 1
        if looks == done_after:
            reply.set_result(None)
        return next(scripted)

    await within(reply, kind="worker", limit_s=limit_s, look=look, look_s=SOON_S)
    return looks


async def test_reply_ends_the_wait_at_once() -> None:
    assert await wait_beside(Interval(wall_s=1.0, cpu_s=1.0), done_after=4) == 4


async def test_endless_loop_is_reported_by_cpu_time() -> None:
    with pytest.raises(DeadlineError) as raised:
        await wait_beside(Interval(wall_s=5.0, cpu_s=1.0, delayed_s=4.0))
    assert str(raised.value) == "the worker timed out after 50 s with 10 s of CPU time"
    assert not raised.value.slept


async def test_timeout_of_sleeping_process_names_sleep() -> None:
    with pytest.raises(DeadlineError) as raised:
        await wait_beside(Interval(wall_s=1.0))
    assert str(raised.value) == "the worker timed out after 20 s with 0 s of CPU time"
    assert raised.value.slept


async def test_process_without_cpu_time_has_no_deadline() -> None:
    with pytest.raises(MachineBusyError) as raised:
        await wait_beside(Interval(wall_s=1.0, cpu_s=0.01, delayed_s=0.99))
    assert str(raised.value) == "this machine is too busy: the worker was given 2 s of CPU time in 200 s"


async def test_failed_look_ends_the_wait() -> None:
    def fail() -> Interval:
        raise ZeroDivisionError

    reply: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    with pytest.raises(ZeroDivisionError):
        await within(reply, kind="worker", limit_s=10.0, look=fail, look_s=SOON_S)
