"""Signals that stop and continue a program: their handlers run between events, never inside of what they interrupt."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator

import pytest

from kgtui.app.terminal import stop_and_continue_between_events


@pytest.fixture
def handled() -> Iterator[list[str]]:
    """The handlers that have run, as names of signals; the process's own handlers come back."""
    names: list[str] = []
    before = {number: signal.getsignal(number) for number in (signal.SIGTSTP, signal.SIGCONT)}
    for number in before:
        signal.signal(number, lambda number, frame: names.append(signal.Signals(number).name))
    yield names
    for number, handler in before.items():
        signal.signal(number, handler)


async def handled_between(names: list[str], *numbers: signal.Signals) -> list[str]:
    """The handlers that ran inside of the code that the signals interrupted; the others have run afterwards."""
    stop_and_continue_between_events()
    for number in numbers:
        os.kill(os.getpid(), number)
    inside = names.copy()
    # The signals have written to the loop's own pipe by now: this is behind what it reads from there.
    for _ in range(3):
        await asyncio.sleep(0)
    return inside


def test_stop_signal_is_handled_between_events(handled: list[str]) -> None:
    assert asyncio.run(handled_between(handled, signal.SIGTSTP, signal.SIGCONT)) == []
    assert handled == ["SIGTSTP", "SIGCONT"]


def test_continue_signal_without_stop_is_ignored(handled: list[str]) -> None:
    asyncio.run(handled_between(handled, signal.SIGCONT))
    assert handled == []
