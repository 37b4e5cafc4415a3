"""Pictures of the screens in each state and size; look at a changed one before accepting it."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from textual.pilot import Pilot

NARROW, MEDIUM, WIDE = (80, 24), (120, 36), (200, 60)


@pytest.fixture
def looks_as_before(make_bench: Any, snap_compare: Any) -> Callable[..., bool]:
    """Compares a picture of the application with the one that was accepted."""

    def compare(
        script: Any = None, *, size: tuple[int, int], keys: tuple[str, ...] = (), until_cases: int | None = None,
        **settings: Any,
    ) -> bool:  # fmt: skip
        bench = make_bench(script, **settings)

        async def drive(pilot: Pilot[None]) -> None:
            if until_cases is None:
                await bench.until(pilot, lambda: bench.app.problems != ())
                await bench.settled(pilot)
            else:
                await bench.until(pilot, lambda: len(bench.app.screen.bench.view.cases) == until_cases)
            await pilot.press(*keys)
            if until_cases is None:
                await bench.settled(pilot)
            for editor in bench.app.screen.query("SourceEditor, Input"):
                editor.cursor_blink = False
            await pilot.pause()

        return bool(snap_compare(bench.app, terminal_size=size, run_before=drive))

    return compare


@pytest.mark.parametrize("size", [NARROW, MEDIUM, WIDE], ids=["narrow", "medium", "wide"])
def test_a_failed_run(looks_as_before: Any, fakes: ModuleType, size: tuple[int, int]) -> None:
    assert looks_as_before(fakes.some_fail, size=size)


def test_a_passed_run(looks_as_before: Any) -> None:
    assert looks_as_before(size=MEDIUM)


def test_a_run_that_goes_on(looks_as_before: Any, fakes: ModuleType) -> None:
    assert looks_as_before(fakes.stops_half_way, size=MEDIUM, until_cases=5)


def test_a_flagged_run(looks_as_before: Any, fakes: ModuleType) -> None:
    assert looks_as_before(fakes.suspicious, size=MEDIUM, keys=("2",))


def test_before_anything_ran(looks_as_before: Any, fakes: ModuleType) -> None:
    assert looks_as_before(fakes.never_begins, size=NARROW, until_cases=0)


def test_unsaved_text_over_stale_results(looks_as_before: Any) -> None:
    assert looks_as_before(size=NARROW, keys=("e", "x"))


def test_the_code_of_a_kernel(looks_as_before: Any) -> None:
    assert looks_as_before(size=MEDIUM, keys=("3",))


def test_the_reason_in_ascii_at_the_least_size(looks_as_before: Any, fakes: ModuleType) -> None:
    assert looks_as_before(fakes.some_fail, size=(60, 15), keys=("1", "enter", "z"), ascii=True)


@pytest.mark.parametrize("size", [NARROW, WIDE], ids=["narrow", "wide"])
def test_the_operators(looks_as_before: Any, size: tuple[int, int]) -> None:
    assert looks_as_before(size=size, opened=False)


def test_the_help(looks_as_before: Any) -> None:
    assert looks_as_before(size=MEDIUM, keys=("f1",))
