"""Cancelling runs by message, and clean-up that is waited for."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from engine.errors import EngineError
from engine.model.commands import CancelRun
from engine.run.cancelling import RunsInProgress, to_its_end


def test_cancelling_active_run_sets_only_its_event() -> None:
    runs = RunsInProgress()
    with runs.open("a") as first, runs.open("b") as second, runs.open(None) as third:
        runs.cancel(CancelRun(run_id="b"))
        assert [first.is_set(), second.is_set(), third.is_set()] == [False, True, False]


def test_cancelling_ended_run_has_no_effect() -> None:
    runs = RunsInProgress()
    with runs.open("a"):
        pass
    runs.cancel(CancelRun(run_id="a"))
    with runs.open("a") as again:
        assert not again.is_set()


def test_run_id_in_use_is_refused() -> None:
    runs = RunsInProgress()
    with runs.open("a"), pytest.raises(EngineError, match="'a' is already in progress"), runs.open("a"):
        pass


def test_cancel_as_json_is_the_same_command() -> None:
    command = CancelRun(run_id="a")
    assert msgspec.json.decode(msgspec.json.encode(command), type=CancelRun) == command


async def test_cancelled_run_waits_for_its_cleanup() -> None:
    ending, ended = asyncio.Event(), asyncio.Event()

    async def clean_up() -> None:
        await ending.wait()
        ended.set()

    waiting = asyncio.create_task(to_its_end(asyncio.create_task(clean_up())))
    for _ in range(2):  # cancelled twice
        await asyncio.sleep(0)
        waiting.cancel()
    await asyncio.sleep(0)
    assert not waiting.done()
    ending.set()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert ended.is_set()
