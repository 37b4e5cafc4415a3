"""Garbage is looked for in portions, and what stays is put aside; all is looked through while nobody looks."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import pytest

from kgtui.app.gc_policy import (
    AWAY_S,
    LONG_REST_S,
    MANY_LEFT,
    MOST_ASIDE,
    MOST_AT_ONCE,
    REST_S,
    SELDOM,
    GcPolicy,
)


@dataclass
class Collector:
    """Stands for Python's own: how many objects there are that it would look through, and how many are put aside."""

    objects: int
    aside: int = 0
    looked_through: list[int] = field(default_factory=list)
    threshold: tuple[int, int, int] = (700, 10, 10)

    def get_threshold(self) -> tuple[int, int, int]:
        return self.threshold

    def set_threshold(self, young: int, middle: int, old: int) -> None:
        self.threshold = (young, middle, old)

    def freeze(self) -> None:
        self.objects, self.aside = 0, self.aside + self.objects

    def unfreeze(self) -> None:
        self.objects, self.aside = self.objects + self.aside, 0

    def get_objects(self, *, generation: int) -> range:
        assert generation == 2, "where all are after a collection"
        return range(self.objects)

    def collect(self) -> None:
        self.looked_through.append(self.objects)


@dataclass
class App:
    """Stands for the application: when it was touched last, whether a run goes on, and whether its terminal is used."""

    touched_s: float = 0.0
    busy: bool = False
    app_focus: bool = True
    looks: list[Any] = field(default_factory=list)

    timers: list[float] = field(default_factory=list)

    def while_active(self, seconds: float, look: Any) -> None:
        self.looks.append(look)

    def set_timer(self, seconds: float, call: Any) -> None:
        self.timers.append(seconds)

    def wake(self) -> None:
        """Nothing: these tests look themselves."""


@dataclass
class Begun:
    """An application that has started, with a hundred objects."""

    app: Any
    gc: Collector
    now_s: float = 0.0

    def at(self, now_s: float, *, more: int = 0) -> list[int]:
        """Look at this time, when so many more objects have come; how many were looked through each time so far."""
        self.now_s, self.gc.objects = now_s, self.gc.objects + more
        [look] = self.app.looks
        look()
        return self.gc.looked_through


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> Begun:
    made = Begun(app=App(), gc=Collector(objects=100))
    monkeypatch.setattr("kgtui.app.gc_policy.gc", made.gc)
    gc_policy = GcPolicy(clock=lambda: made.now_s)
    gc_policy.hold_back()
    gc_policy.begin(made.app)
    return made


def test_what_the_start_made_is_put_aside_and_python_seldom_looks_through_all_by_itself(begun: Begun) -> None:
    assert begun.gc.aside == 100
    assert begun.gc.threshold == (700, 10, SELDOM)


def test_somebody_who_goes_on_waits_for_no_more_than_a_portion(begun: Begun) -> None:
    for second in range(1, 60):
        begun.app.touched_s = second - REST_S / 2
        begun.at(second, more=MANY_LEFT + 1)
    assert begun.gc.looked_through == [2 * (MANY_LEFT + 1)] * 29
    assert 2 * (MANY_LEFT + 1) > MOST_AT_ONCE >= MANY_LEFT + 1


def test_after_a_moment_of_rest_it_is_done_once_until_something_happens_again(begun: Begun) -> None:
    begun.app.touched_s = 5.0
    assert begun.at(5.0 + 2 * REST_S, more=30) == [30]
    assert begun.at(60.0, more=7) == [30]
    begun.app.touched_s = 61.0
    assert begun.at(61.0 + 2 * REST_S, more=20) == [30, 57]


def test_what_is_left_is_put_aside_only_when_it_is_many(begun: Begun) -> None:
    begun.app.touched_s = 5.0
    begun.at(5.0 + 2 * REST_S, more=MANY_LEFT)
    assert begun.gc.aside == 100
    begun.app.touched_s = 7.0
    begun.at(7.0 + 2 * REST_S, more=1)
    assert begun.gc.aside == 100 + MANY_LEFT + 1


def test_a_run_that_goes_on_waits_for_no_more_than_a_portion_either(begun: Begun) -> None:
    begun.app.busy = True
    assert begun.at(10.0, more=MOST_AT_ONCE) == []
    assert begun.at(10.1, more=1) == [MOST_AT_ONCE + 1]
    assert begun.at(20.0, more=MOST_AT_ONCE) == [MOST_AT_ONCE + 1]


def test_a_run_that_has_just_ended_is_shown_first(begun: Begun) -> None:
    begun.app.busy = True
    assert begun.at(1.0, more=50) == []
    begun.app.busy = False
    assert begun.at(1.0 + REST_S / 2) == []
    assert begun.at(1.0 + 2 * REST_S) == [50]


def test_what_was_put_aside_is_looked_through_again_when_it_is_much_and_the_user_has_gone(begun: Begun) -> None:
    much = MOST_ASIDE // 2 + 1
    for second in (1.0, 2.0):
        begun.app.touched_s = second
        begun.at(second + 2 * REST_S, more=much)
    assert begun.at(2.0 + LONG_REST_S - 1, more=1) == [much, much]  # for all that is known, somebody looks
    begun.app.app_focus = False
    begun.app.touched_s = 500.0
    assert begun.at(500.0 + REST_S / 2) == [much, much]
    begun.at(500.0 + 2 * REST_S)
    assert begun.at(500.0 + AWAY_S - 1, more=3) == [much, much, 1]
    assert begun.at(500.0 + AWAY_S + 1) == [much, much, 1, 100 + 2 * much + 4]
    assert begun.at(900.0, more=1) == [much, much, 1, 100 + 2 * much + 4]


def test_a_run_is_not_kept_waiting_though_the_user_has_gone(begun: Begun) -> None:
    begun.app.touched_s = 1.0
    begun.at(1.0 + 2 * REST_S, more=MOST_ASIDE + 1)
    begun.app.app_focus, begun.app.busy = False, True
    assert begun.at(1_000.0) == [MOST_ASIDE + 1]


def test_a_terminal_that_never_tells_has_much_looked_through_after_a_longer_rest(begun: Begun) -> None:
    begun.app.touched_s = 1.0
    assert begun.at(1.0 + 2 * REST_S, more=MOST_ASIDE + 1) == [MOST_ASIDE + 1]
    assert begun.at(1.0 + LONG_REST_S - 1) == [MOST_ASIDE + 1]
    assert begun.at(1.0 + LONG_REST_S + 1)[1:] == [100 + MOST_ASIDE + 1]
    assert begun.at(9.0 + LONG_REST_S)[2:] == []


async def test_the_application_knows_when_a_key_was_pressed_last(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        before = bench.app.touched_s
        await pilot.press("j")
        assert before < bench.app.touched_s <= time.monotonic()


def test_an_idle_application_is_not_looked_at_again(begun: Begun) -> None:
    [look] = begun.app.looks
    begun.app.touched_s = begun.now_s = 5.0
    assert look() is True
    begun.at(5.0 + 2 * REST_S)
    assert (look(), begun.app.timers) == (False, [])


def test_much_that_was_put_aside_is_looked_at_once_a_minute(begun: Begun) -> None:
    [look] = begun.app.looks
    begun.app.touched_s = 1.0
    begun.at(1.0 + 2 * REST_S, more=MOST_ASIDE + 1)
    assert (look(), look(), begun.app.timers) == (False, False, [AWAY_S])
