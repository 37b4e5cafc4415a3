"""Help, the palette of actions, and drawing in ASCII."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from textual.command import CommandList

from kgtui.screens.base.palette import Actions
from kgtui.settings.keys import ACTIONS
from kgtui.state.format.glyphs import State
from kgtui.state.format.lines import plain_text
from kgtui.widgets.text.toned import Lines
from tests.kgtui import fakes
from tests.kgtui.app.workbench_state import state


async def test_help_lists_the_keys_and_closes(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("f1")
        assert "run only the failed cases" in plain_text(bench.app.screen.query_one("#help-text", Lines).lines)
        await pilot.press("escape")
        assert state(bench) is State.PASSED


async def test_help_scrolls_to_end_and_wraps_text(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test(size=(80, 24)) as pilot:
        await bench.settled(pilot)
        await pilot.press("f1")
        page = bench.app.screen.query_one("#help")
        lines = str(bench.app.screen.query_one("#help-text", Lines).render()).splitlines()
        assert next(after for line, after in pairwise(lines) if "on a" in line).index("separate screen") == 18
        await pilot.press("G")
        await pilot.pause()
        assert page.scroll_y == page.max_scroll_y > 0
        await pilot.press("g")
        await pilot.pause()
        assert page.scroll_y == 0


async def test_palette_prefers_action_name_over_words(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        found = [hit async for hit in Actions(bench.app.screen).search("comp")]
        best = max(found, key=lambda hit: hit.score)
        assert str(best.match_display) == "compare  (c)"


async def test_the_palette_runs_any_action(make_bench: Any) -> None:
    bench = make_bench()
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("ctrl+p", *"run the saved file")
        found = sum(action.help == "run the saved file again, all cases" for action in ACTIONS)
        await bench.until(pilot, lambda: bench.app.screen.query_one(CommandList).option_count == found)
        await pilot.press("enter", "enter")
        await bench.until(pilot, lambda: len(bench.engine.evaluated) == 2)


async def test_screenshot_is_found_in_palette_and_written(make_bench: Any, tmp_path: Path) -> None:
    bench = make_bench()
    async with bench.app.run_test(notifications=True) as pilot:
        await bench.settled(pilot)
        await pilot.press("ctrl+p", *"svg file")
        await bench.until(pilot, lambda: bench.app.screen.query_one(CommandList).option_count == 1)
        await pilot.press("enter", "enter")
        picture = tmp_path / "kgtui-screen.svg"
        await bench.until(pilot, picture.exists)
        assert "51/51" not in picture.read_text() and "passed" in picture.read_text()
        await pilot.press("O")
        await bench.until(pilot, (tmp_path / "kgtui-screen_2.svg").exists)


async def test_screenshot_that_cannot_be_written_is_reported(make_bench: Any, tmp_path: Path) -> None:
    bench = make_bench()
    async with bench.app.run_test(notifications=True) as pilot:
        await bench.settled(pilot)
        (tmp_path / "file").touch()
        bench.app.kernels._folder = tmp_path / "file"
        await pilot.press("O")
        await bench.until(pilot, lambda: bool(bench.app._notifications))
        message = next(iter(bench.app._notifications)).message
        assert message.startswith(f"{tmp_path}/file cannot be written: ")


@pytest.mark.parametrize("keys", ["1", "2", "3", "4", "5", "?", "B", "1 y", "e x ctrl+q", "/", "ctrl+o"])
async def test_in_ascii_nothing_else_is_drawn(make_bench: Any, keys: str) -> None:
    bench = make_bench(fakes.some_fail, ascii=True)
    async with bench.app.run_test(size=(100, 24), notifications=True) as pilot:
        await bench.settled(pilot)
        await pilot.press(*keys.split())
        await pilot.pause()
        drawn = "".join(segment.text for strip in bench.app.screen._compositor.render_strips() for segment in strip)
        assert drawn.strip()
        assert {letter for letter in drawn if not letter.isascii()} == set()
