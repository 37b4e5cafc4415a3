"""The table of long lists: lines of one width whatever is in them, a cursor that stays, and asking for more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len
from textual.app import App, ComposeResult
from textual.strip import Strip

from kgtui.screens.base.styled import StyledScreen
from kgtui.state.format.lines import Column, Row, Span, Tone
from kgtui.widgets.tables.paged_grid import PagedGrid

COLUMNS = (Column(label="run", width=6), Column(label="name", width=10), Column(label="note", width=30))
STRANGE = ("plain", "日本語日本語日本語", "🚀🚀🚀🚀🚀🚀", "[red]x[/red]", "e\u0301clair", "a" * 40, "")


def rows(numbers: Sequence[int], name: str = "k.py") -> tuple[Row, ...]:
    return tuple(Row(key=str(number), cells=(Span(f"#{number}"), Span(name), Span("-"))) for number in numbers)


class Table(App[None]):
    CSS: ClassVar[str] = "PagedGrid { height: 10; }"

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[str] = []

    def get_default_screen(self) -> StyledScreen:
        return StyledScreen()  # it has the tones

    def compose(self) -> ComposeResult:
        yield PagedGrid(COLUMNS)

    def on_paged_grid_end_near(self, message: PagedGrid.EndNear) -> None:
        self.heard.append("below" if message.below else "above")

    def on_paged_grid_chosen(self) -> None:
        self.heard.append("chosen")

    def on_paged_grid_header_chosen(self, message: PagedGrid.HeaderChosen) -> None:
        self.heard.append(f"column {message.column}")

    @property
    def grid(self) -> PagedGrid:
        return self.query_one(PagedGrid)

    def lines(self) -> list[str]:
        return [self.grid.render_line(y).text for y in range(self.grid.size.height)]


async def test_every_line_has_table_width_with_aligned_columns() -> None:
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


async def test_rows_added_above_keep_cursor_position() -> None:
    app = Table()
    async with app.run_test(size=(60, 12)) as pilot:
        app.grid.show(rows(range(100, 0, -1)), COLUMNS)
        await pilot.press("pagedown", "pagedown", "up", "up")
        current, seen = app.grid.current, app.lines()
        app.grid.show(rows(range(150, 0, -1)), COLUMNS)
        assert app.grid.current == current
        assert app.lines() == seen


async def test_rows_removed_keep_view_and_move_cursor() -> None:
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


async def test_removed_row_keeps_cursor_place() -> None:
    app = Table()
    async with app.run_test(size=(60, 12)) as pilot:
        app.grid.show(rows([3, 2, 1]), COLUMNS)
        await pilot.press("down")
        app.grid.show(rows([3, 1]), COLUMNS)
        assert app.grid.current == "1"
        app.grid.show((), COLUMNS)
        assert app.grid.current is None


async def test_more_rows_are_requested_near_ends_only() -> None:
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


async def test_click_moves_cursor_and_second_click_selects() -> None:
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


async def test_click_on_column_name_selects_column() -> None:
    app = Table()
    async with app.run_test(size=(60, 12)) as pilot:
        app.grid.show(rows([3, 2, 1]), COLUMNS)
        for x in (1, 6, 7, 16, 17, 58):
            await pilot.click(PagedGrid, offset=(x, 0))
        chosen = [heard for heard in app.heard if heard.startswith("column")]
        assert chosen == ["column 0", "column 0", "column 1", "column 1", "column 2"]
        assert app.grid.current == "3"


async def test_narrow_table_scrolls_header_and_rows_together() -> None:
    app = Table()
    async with app.run_test(size=(30, 12)) as pilot:
        app.grid.show(rows([1]), COLUMNS)
        app.grid.scroll_to(x=7, animate=False, immediate=True, force=True)
        await pilot.pause()
        assert [line.rstrip() for line in app.lines()[:2]] == ["name      note", "k.py      -"]


async def test_stale_row_has_stale_tone() -> None:
    app = Table()
    app.CSS += " .tone--stale { text-style: italic; } .tone--good { text-style: bold; }"
    async with app.run_test(size=(60, 12)):
        cells = (Span("#1", Tone.GOOD), Span("k.py"), Span("-"))
        app.grid.show((Row(key="2", cells=cells), Row(key="1", cells=cells, stale=True)), COLUMNS)
        styles = [next(part.style for part in app.grid.render_line(y) if "#1" in part.text) for y in (1, 2)]
        assert [(bool(style.bold), bool(style.italic)) for style in styles if style] == [(True, False), (False, True)]


async def test_only_visible_rows_are_drawn() -> None:
    drawn: list[int] = []

    class Watched(PagedGrid):
        def render_line(self, y: int) -> Strip:
            drawn.append(y)
            return super().render_line(y)

    class Long(Table):
        def compose(self) -> ComposeResult:
            yield Watched(COLUMNS)

    app = Long()
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.pause()
        drawn.clear()
        app.grid.show(rows(range(1000)), COLUMNS)
        await pilot.pause()
        assert set(drawn) == set(range(app.grid.size.height))
