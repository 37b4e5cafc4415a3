"""The bar at the bottom offers what can be done now, on every screen."""

from __future__ import annotations

from typing import Any

import pytest

from kgtui.settings.keys import ACTIONS, Where
from kgtui.widgets.controls.bars import Bar
from tests.kgtui import fakes


def offered(bench: Any) -> set[str]:
    """The ids of the actions on the bar, without those that are everywhere."""
    calls = {segment.key for segment in bench.app.screen.query_one("#keys", Bar).segments}
    where = bench.app.screen.WHERE
    return {action.id for action in ACTIONS if action.call in calls and action.where is where}


async def test_workbench_offers_no_failed_case_after_pass(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        assert offered(bench) == {"run", "edit", "editor", "zoom", "search"}
        await pilot.press("2")
        assert offered(bench) == {"run", "edit", "editor", "zoom"}


async def test_workbench_offers_keys_for_failed_run(make_bench: Any) -> None:
    bench = make_bench(fakes.some_fail)
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        assert offered(bench) == {"run", "failed", "why", "edit", "editor", "zoom", "search"}
        bench.watcher.save(fakes.SOURCE + b"# changed\n")
        await bench.settled(pilot)
        assert "compare" in offered(bench)


async def test_edit_offers_save_only_for_unsaved_text(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("e")
        assert "save" not in offered(bench)
        await pilot.press("#")
        await pilot.pause()
        assert "save" in offered(bench)


@pytest.mark.parametrize(
    ("key", "where", "idle"),
    [
        ("f8", Where.HISTORY, {"open-run", "mark", "compare", "tag", "note", "restore", "delete"}),
        ("f2", Where.SETTINGS, {"revert", "write"}),
        ("u", Where.TUNE, {"write-winner", "sort", "other-table"}),
        ("D", Where.DIFFERENCES, {"older", "newer", "next-kernel", "next-change", "copy"}),
        ("B", Where.BENCH, {"measure", "axis", "again"}),
        ("c", Where.COMPARE, {"measure", "next-difference", "copy-comparison"}),
    ],
)
async def test_a_screen_offers_nothing_that_does_nothing(
    make_bench: Any, key: str, where: Where, idle: set[str]
) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press(key)
        await bench.settled(pilot)
        on_bar = {action.id for action in ACTIONS if action.where is where and action.bar}
        assert bench.app.screen.WHERE is where
        assert offered(bench) == on_bar - idle
