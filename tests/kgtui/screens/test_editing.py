"""Searching, replacing and going to a line in the open file; leaving the editor while a run goes on."""

from __future__ import annotations

from typing import Any

import pytest

from kgtui.screens.workbench.screen import WorkbenchScreen
from kgtui.state.format.lines import plain_text
from kgtui.state.workbench.status import Mode
from kgtui.widgets.controls.bars import Bar
from kgtui.widgets.controls.entry import Entry
from kgtui.widgets.text.editor import SourceEditor
from tests.kgtui import fakes

TEXT = b"one = 1\nx = one + one\ny = one\n"


def workbench(bench: Any) -> WorkbenchScreen:
    screen = bench.app.screen
    assert isinstance(screen, WorkbenchScreen)
    return screen


def editor(bench: Any) -> SourceEditor:
    return workbench(bench).source.editor


async def test_a_search_works_while_the_file_is_edited(make_bench: Any) -> None:
    bench = make_bench(content=TEXT)
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("e", "ctrl+f", *"one", "enter")
        assert (editor(bench).selected_text, editor(bench).selection.start) == ("", (0, 0))
        await pilot.press("f3", "f3")
        assert editor(bench).selection.start == (1, 10)
        await pilot.press("shift+f3")
        assert editor(bench).selection.start == (1, 4)
        assert editor(bench).text == TEXT.decode()
        assert workbench(bench).bench.mode is Mode.EDIT


@pytest.mark.parametrize("ending", [("enter",), ("enter", "f3"), ("escape",)], ids=["enter", "F3", "esc"])
async def test_typing_after_a_search_replaces_no_match(make_bench: Any, ending: tuple[str, ...]) -> None:
    bench = make_bench(content=b"a\none = 1\none = 2\n")
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("e", "ctrl+f", *"one", *ending)
        line = 3 if "f3" in ending else 2
        assert (workbench(bench).source.line, editor(bench).selected_text) == (line, "")
        await pilot.press("enter")
        assert editor(bench).text == ("a\none = 1\n\none = 2\n" if line == 3 else "a\n\none = 1\none = 2\n")


async def test_match_under_the_cursor_is_highlighted_while_editing(make_bench: Any) -> None:
    bench = make_bench(content=TEXT)
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("e", "ctrl+f", *"one", "enter", "f3")
        style = editor(bench).get_component_rich_style("source--found")
        found = [segment.text for segment in editor(bench).render_line(1) if segment.style.bgcolor == style.bgcolor]
        assert "".join(found) == "one"
        await pilot.press("right")
        assert all(segment.style.bgcolor != style.bgcolor for segment in editor(bench).render_line(1))


async def test_keys_name_the_next_match_after_a_search(make_bench: Any) -> None:
    bench = make_bench(content=TEXT)
    async with bench.app.run_test(size=(120, 36)) as pilot:
        await bench.settled(pilot)
        await pilot.press("e", "ctrl+f", *"one", "enter")
        keys = [plain_text((segment.line,)) for segment in workbench(bench).query_one("#keys", Bar).segments]
        assert "F3 next match" in keys


async def test_replace_begins_with_the_match_of_a_search(make_bench: Any) -> None:
    bench = make_bench(content=TEXT)
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("e", "ctrl+f", *"one", "enter", "ctrl+r")
        assert workbench(bench).query_one("#entry", Entry).field.value == "one"


async def test_line_number_moves_the_cursor(make_bench: Any) -> None:
    bench = make_bench(content=TEXT)
    async with bench.app.run_test(notifications=True) as pilot:
        await bench.settled(pilot)
        await pilot.press("ctrl+g", "3", "enter")
        assert workbench(bench).source.line == 3
        await pilot.press("ctrl+g", *"x2", "enter")
        assert [note.message for note in bench.app._notifications] == ["expected the number of a line, got 'x2'"]
        assert workbench(bench).source.line == 3


async def test_a_text_is_replaced_place_by_place(make_bench: Any) -> None:
    bench = make_bench(content=TEXT)
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("ctrl+r", *"one", "enter", *"two", "enter")
        await pilot.press("y", "n", "y", "y")
        assert editor(bench).text == "two = 1\nx = one + two\ny = two\n"
        assert workbench(bench).bench.unsaved


async def test_one_undo_reverts_all_replacements(make_bench: Any) -> None:
    bench = make_bench(content=TEXT)
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("ctrl+r", *"one", "enter", *"oneone", "enter", "a")
        assert editor(bench).text == "oneone = 1\nx = oneone + oneone\ny = oneone\n"
        await pilot.press("ctrl+z")
        assert editor(bench).text == TEXT.decode()


async def test_escape_keeps_unreplaced_matches(make_bench: Any) -> None:
    bench = make_bench(content=TEXT)
    async with bench.app.run_test() as pilot:
        await bench.settled(pilot)
        await pilot.press("ctrl+r", *"one", "enter", "enter", "escape", "escape")
        assert editor(bench).text == TEXT.decode()
        assert workbench(bench).bench.mode is Mode.WATCH


async def test_escape_leaves_the_edit_and_not_the_run(make_bench: Any) -> None:
    bench = make_bench(fakes.stops_half_way)
    async with bench.app.run_test() as pilot:
        await bench.until(pilot, lambda: len(workbench(bench).bench.view.cases) == 5)
        await pilot.press("e", "escape")
        screen = workbench(bench)
        assert screen.bench.mode is Mode.WATCH
        assert screen.bench.view.running
        assert bench.engine.cancelled == 0
        await pilot.press("escape")
        await bench.settled(pilot)
        assert bench.engine.cancelled == 1
