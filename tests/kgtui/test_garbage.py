"""Garbage is looked for while nobody waits, and never twice among what was looked through."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import pytest

from kgtui.garbage import LONG_REST_S, MOST_ASIDE, REST_S, RUN_S, SELDOM, Garbage


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
    """Stands for the application: when it was touched last, and whether a run goes on."""

    touched_s: float = 0.0
    busy: bool = False
    looks: list[Any] = field(default_factory=list)

    def set_interval(self, seconds: float, look: Any) -> None:
        self.looks.append(look)


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
    monkeypatch.setattr("kgtui.garbage.gc", made.gc)
    garbage = Garbage(clock=lambda: made.now_s)
    garbage.hold_back()
    garbage.begin(made.app)
    return made


def test_what_the_start_made_is_put_aside_and_python_seldom_looks_through_all_by_itself(begun: Begun) -> None:
    assert begun.gc.aside == 100
    assert begun.gc.threshold == (700, 10, SELDOM)


def test_somebody_who_goes_on_is_never_held_up(begun: Begun) -> None:
    for second in range(1, 60):
        begun.app.touched_s = second - REST_S / 2
        assert begun.at(second, more=1000) == []


def test_after_a_moment_of_rest_it_is_done_once_until_something_happens_again(begun: Begun) -> None:
    begun.app.touched_s = 5.0
    assert begun.at(5.0 + 2 * REST_S, more=30) == [30]
    assert begun.at(60.0, more=7) == [30]
    begun.app.touched_s = 61.0
    assert begun.at(61.0 + 2 * REST_S, more=20) == [30, 27]


def test_while_a_run_goes_on_it_is_done_now_and_then_but_not_while_keys_are_pressed(begun: Begun) -> None:
    begun.app.busy = True
    assert begun.at(RUN_S / 2, more=50) == []
    begun.app.touched_s = 2 * RUN_S
    assert begun.at(2 * RUN_S + REST_S / 2, more=50) == []
    assert begun.at(2 * RUN_S + 2 * REST_S) == [100]
    assert begun.at(2 * RUN_S + 3 * REST_S, more=5) == [100]
    assert begun.at(4 * RUN_S) == [100, 5]


def test_a_run_that_has_just_ended_is_shown_first(begun: Begun) -> None:
    begun.app.busy = True
    assert begun.at(1.0, more=50) == []
    begun.app.busy = False
    assert begun.at(1.0 + REST_S / 2) == []
    assert begun.at(1.0 + 2 * REST_S) == [50]


def test_what_was_put_aside_is_looked_through_again_when_it_is_much_and_the_rest_is_long(begun: Begun) -> None:
    much = MOST_ASIDE // 2 + 1
    for minute in (1, 2):
        begun.app.touched_s = 60.0 * minute
        begun.at(begun.app.touched_s + 2 * REST_S, more=much)
        begun.at(begun.app.touched_s + LONG_REST_S - REST_S, more=1)
    assert begun.gc.looked_through == [much, much + 1]
    assert begun.at(120.0 + 2 * LONG_REST_S) == [much, much + 1, 100 + 2 * much + 2]
    assert begun.at(120.0 + 3 * LONG_REST_S, more=1) == [much, much + 1, 100 + 2 * much + 2]


async def test_the_application_knows_when_a_key_was_pressed_last(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        before = bench.app.touched_s
        await pilot.press("j")
        assert before < bench.app.touched_s <= time.monotonic()
