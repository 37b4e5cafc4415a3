"""Pictures of a few pages for the eye, and of those in ASCII; every page in every state is kept as text, in `pages`.

Look at a changed one before accepting it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.kgtui import fakes
from tests.kgtui.fakes import timed_runs

NARROW, MEDIUM, WIDE = (80, 24), (120, 36), (200, 60)


async def shown(bench: Any, pilot: Pilot[None], *keys: str) -> None:
    """The run has ended, and the keys were pressed."""
    await bench.until(pilot, lambda: bench.app.problems != ())
    await bench.settled(pilot)
    await pilot.press(*keys)
    await bench.settled(pilot)


@pytest.fixture
def looks_as_before(make_bench: Any, snap_compare: Any) -> Callable[..., bool]:
    """Compares a picture of the application with the one that was accepted."""

    def compare(script: Any, *keys: str, size: tuple[int, int], **settings: Any) -> bool:
        bench = make_bench(script, **settings)

        async def drive(pilot: Pilot[None]) -> None:
            await shown(bench, pilot, *keys)
            for editor in bench.app.screen.query("SourceEditor, Input"):
                editor.cursor_blink = False
            await pilot.pause()

        return bool(snap_compare(bench.app, terminal_size=size, run_before=drive))

    return compare


@pytest.fixture
def gpu() -> dict[str, Any]:
    """The settings of a workbench on a GPU, with five bench cases."""
    return {"device": "cuda", "problem": timed_runs.timed_problem()}


def test_a_failed_run(looks_as_before: Any) -> None:
    assert looks_as_before(fakes.some_fail, size=MEDIUM)


def test_a_run_that_was_timed(looks_as_before: Any, gpu: dict[str, Any]) -> None:
    assert looks_as_before(timed_runs.all_timed, "3", "j", size=WIDE, **gpu)


def test_the_bench_cases_over_their_sizes(looks_as_before: Any, gpu: dict[str, Any]) -> None:
    assert looks_as_before(timed_runs.two_baselines, "B", "j", size=MEDIUM, **gpu)


def test_ascii_case_at_least_size_matches_snapshot(looks_as_before: Any) -> None:
    assert looks_as_before(fakes.some_fail, "1", "enter", size=(60, 15), ascii=True)


def test_the_bench_cases_in_their_order_in_ascii(looks_as_before: Any, gpu: dict[str, Any]) -> None:
    assert looks_as_before(timed_runs.two_baselines, "B", "x", "m", "m", size=NARROW, ascii=True, **gpu)


def test_the_inspection_at_a_finding_in_ascii(looks_as_before: Any) -> None:
    assert looks_as_before(fakes.suspicious, "I", "n", size=NARROW, ascii=True)


async def test_only_focused_pane_has_highlighted_title(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test(size=NARROW) as pilot:
        await shown(bench, pilot)
        titles = [bench.app.screen.query_one(name).styles for name in ("#source-title", "#tabs")]
        in_source = [title.background for title in titles]
        await pilot.press("1")
        in_results = [title.background for title in titles]
        assert [lit.a < 1 for lit in in_source + in_results] == [True, False, False, True]
