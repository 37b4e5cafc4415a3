"""The table of History: lines of one width whatever is in them, a cursor that stays, and asking for more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len
from textual.app import App, ComposeResult

from kgtui.state.lines import Column, Row, Span
from kgtui.widgets.paged_grid import PagedGrid

COLUMNS = (Column(label="run", width=6), Column(label="name", width=10), Column(label="note", width=30))
STRANGE = ("plain", "日本語日本語日本語", "🚀🚀🚀🚀🚀🚀", "[red]x[/red]", "e\u0301clair", "a" * 40, "")


def rows(numbers: Sequence[int], name: str = "k.py") -> tuple[Row, ...]:
    return tuple(Row(key=str(number), cells=(Span(f"#{number}"), Span(name), Span("-"))) for number in numbers)


class Table(App[None]):
    CSS: ClassVar[str] = "PagedGrid { height: 10; }"

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[str] = []

    def compose(self) -> ComposeResult:
        yield PagedGrid(COLUMNS)

    def on_paged_grid_end_near(self, message: PagedGrid.EndNear) -> None:
        self.heard.append("below" if message.below else "above")

    def on_paged_grid_chosen(self) -> None:
        self.heard.append("chosen")

    @property
    def grid(self) -> PagedGrid:
        return self.query_one(PagedGrid)

    def lines(self) -> list[str]:
        return [self.grid.render_line(y).text for y in range(self.grid.size.height)]


async def test_every_line_is_as_wide_as_the_table_and_its_columns_begin_where_they_should() -> None:
    app = Table()
    async with app.run_test(size=(60, 12)):
        shown = tuple(
            Row(key=str(place), cells=(Span("#1"), Span(text), Span("|"))) for place, text in enumerate(STRANGE)
        )
        app.grid.show(shown, COLUMNS)
        lines = app.lines()
        assert {cell_len(line) for line in lines} == {app.grid.size.width}
        assert [cell_len(line.partition("|")[0]) for line in lines[1 : len(STRANGE) + 1]] == [17] * len(STRANGE)
        assert "[red]x[/…" in lines[4]


async def test_a_cut_is_marked_in_ascii_too() -> None:
    app = Table()
    async with app.run_test(size=(60, 12)):
        app.add_class("-ascii")
        app.grid.show(rows([1], name="a" * 40), COLUMNS)
        assert app.lines()[1].startswith(" #1    aaaaaaaa~ -")


async def test_the_header_stays_while_the_rows_scroll() -> None:
    app = Table()
    async with app.run_test(size=(60, 12)) as pilot:
        app.grid.show(rows(range(100, 0, -1)), COLUMNS)
        await pilot.press("end")
        assert app.grid.current == "1"
        assert app.lines()[0].split() == ["run", "name", "note"]
        assert app.lines()[-1].split()[0] == "#1"


async def test_rows_that_come_above_leave_the_cursor_where_it_is_seen() -> None:
    app = Table()
    async with app.run_test(size=(60, 12)) as pilot:
        app.grid.show(rows(range(100, 0, -1)), COLUMNS)
        await pilot.press("pagedown", "pagedown", "up", "up")
        current, seen = app.grid.current, app.lines()
        app.grid.show(rows(range(150, 0, -1)), COLUMNS)
        assert app.grid.current == current
        assert app.lines() == seen


async def test_rows_that_go_behind_the_wheel_leave_what_is_seen_and_take_the_cursor_to_the_nearest_row() -> None:
    app = Table()
    async with app.run_test(size=(60, 12)):
        app.grid.show(rows(range(300, 0, -1)), COLUMNS)
        app.grid.scroll_to(y=150, animate=False, immediate=True, force=True)
        seen = app.lines()
        assert (app.grid.seen, app.grid.current) == ((150, 158), "300")
        app.grid.show(rows(range(400, 0, -1)), COLUMNS)
        assert (app.lines(), app.grid.current) == (seen, "300")
        app.grid.show(rows(range(200, -100, -1)), COLUMNS)
        assert (app.lines(), app.grid.current) == (seen, "200")
        app.grid.go_to(299)
        app.grid.scroll_to(y=50, animate=False, immediate=True, force=True)
        seen = app.lines()
        app.grid.show(rows(range(300, 100, -1)), COLUMNS)
        assert (app.lines(), app.grid.current) == (seen, "101")


async def test_a_row_that_goes_leaves_the_cursor_in_its_place() -> None:
    app = Table()
    async with app.run_test(size=(60, 12)) as pilot:
        app.grid.show(rows([3, 2, 1]), COLUMNS)
        await pilot.press("down")
        app.grid.show(rows([3, 1]), COLUMNS)
        assert app.grid.current == "1"
        app.grid.show((), COLUMNS)
        assert app.grid.current is None


async def test_more_is_asked_for_near_the_ends_only() -> None:
    app = Table()
    async with app.run_test(size=(60, 12)) as pilot:
        app.grid.show(rows(range(100, 0, -1)), COLUMNS)
        app.grid.go_to(50)
        await pilot.pause()
        app.heard.clear()
        await pilot.press("down")
        assert app.heard == []
        app.grid.go_to(85)
        await pilot.pause()
        assert set(app.heard) == {"below"}
        app.heard.clear()
        app.grid.go_to(10)
        await pilot.pause()
        assert set(app.heard) == {"above"}


async def test_a_click_moves_the_cursor_and_another_on_the_same_row_chooses_it() -> None:
    app = Table()
    async with app.run_test(size=(60, 12)) as pilot:
        app.grid.show(rows([3, 2, 1]), COLUMNS)
        await pilot.click(PagedGrid, offset=(3, 2))
        assert (app.grid.current, "chosen" in app.heard) == ("2", False)
        await pilot.click(PagedGrid, offset=(3, 2))
        await pilot.pause()
        assert "chosen" in app.heard


async def test_enter_on_nothing_chooses_nothing() -> None:
    app = Table()
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.press("enter", "down", "pageup", "end")
        assert app.heard == []
