"""Timers that stop while nothing goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest
from textual.message_pump import MessagePump
from textual.timer import Timer

from kgtui.app import terminal
from kgtui.app.while_active import GRACE_CALLS, WhileActive


class Owner:
    """Stands for the application: holds what its timer calls, and whether that runs."""

    def __init__(self) -> None:
        self.running = True
        self.call: Callable[[], None] = lambda: None

    def set_interval(self, every_s: float, call: Callable[[], None]) -> Owner:
        self.call = call
        return self

    def pause(self) -> None:
        self.running = False

    def resume(self) -> None:
        self.running = True


def test_timer_without_need_stops_after_its_grace() -> None:
    owner = Owner()
    timer = WhileActive(cast(MessagePump, owner), 0.1, lambda: False)  # cast: the double at the seam
    for _ in range(GRACE_CALLS - 1):
        owner.call()
    assert (owner.running, timer.is_idle) == (True, False)
    owner.call()
    assert (owner.running, timer.is_idle) == (False, True)


def test_needed_timer_continues() -> None:
    owner = Owner()
    WhileActive(cast(MessagePump, owner), 0.1, lambda: True)  # cast: the double at the seam
    for _ in range(3 * GRACE_CALLS):
        owner.call()
    assert owner.running


def test_stopped_timer_restarts_when_woken() -> None:
    owner = Owner()
    timer = WhileActive(cast(MessagePump, owner), 0.1, lambda: False)  # cast: the double at the seam
    for _ in range(GRACE_CALLS):
        owner.call()
    timer.wake()
    assert (owner.running, timer.is_idle) == (True, False)


def test_rest_is_called_once_per_activity() -> None:
    owner, rests = Owner(), []
    timer = WhileActive(
        cast(MessagePump, owner),  # cast: the double at the seam
        0.1,
        lambda: False,
        rest=lambda: rests.append(timer.is_idle),
    )
    for _ in range(GRACE_CALLS - 1):
        owner.call()
    assert rests == []
    owner.call()
    assert rests == [True]
    timer.wake()
    for _ in range(GRACE_CALLS):
        owner.call()
    assert rests == [True, True]


def running_timers(app: Any) -> list[Timer]:  # Any: the application of a bench
    pumps = [app, *(pump for screen in app.screen_stack for pump in screen.walk_children(with_self=True))]
    return [timer for pump in pumps for timer in pump._timers if timer._active.is_set() and timer._repeat is None]


@pytest.mark.parametrize("opened", [True, False])
async def test_idle_application_has_no_running_timer(make_bench: Any, *, opened: bool) -> None:
    bench = make_bench(opened=opened)
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        for timer in bench.app._active_timers:
            while not timer.is_idle:
                timer._call()
        assert running_timers(bench.app) == []
        await pilot.press("j")
        assert [timer.is_idle for timer in bench.app._active_timers] == [False]


async def test_application_releases_memory_when_idle(make_bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    released: list[bool] = []
    monkeypatch.setattr(terminal, "release_free_memory", lambda: released.append(True))
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        [timer] = bench.app._active_timers
        timer.wake()
        released.clear()
        while not timer.is_idle:
            assert released == []
            timer._call()
        assert released == [True]
