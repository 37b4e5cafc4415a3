"""Tables, lines and bars: what they draw of texts that look like markup, are wide, or do not fit."""

from __future__ import annotations

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from kgtui.screens.base.styled import StyledScreen
from kgtui.state.format.lines import Column, Row, Span, Tone, line
from kgtui.widgets.controls.ask import Answer, Ask
from kgtui.widgets.controls.bars import Bar, Segment, Strip, kept
from kgtui.widgets.text.toned import Grid, Lines

COLUMNS = (Column(label="name", width=8), Column(label="word", width=9))
ODD = ("[red]", "[/]", "形状形状形状", "🚀🚀🚀🚀🚀", "e\u0301e\u0301", "a\tb", "")


class Stage(App[None]):
    """One of each."""

    CSS_PATH = "../../../kgtui/styles/app.tcss"
    CSS = "Screen { overflow: hidden; } Strip { height: 1; }"

    def __init__(self) -> None:
        super().__init__()
        self.chosen: list[str] = []

    def get_default_screen(self) -> StyledScreen:
        return StyledScreen()  # it has the tones

    def compose(self) -> ComposeResult:
        yield Strip(id="strip")
        yield Bar(gap=" ", id="bar")
        yield Lines()
        yield Grid(COLUMNS)
        yield Ask()

    def on_bar_chosen(self, message: Bar.Chosen) -> None:
        self.chosen.append(message.key)


def rows(*names: str, word: str = "ok", stale: bool = False) -> tuple[Row, ...]:
    return tuple(Row(key=name, cells=(Span(name), Span(word, Tone.GOOD)), stale=stale) for name in names)


def drawn(pilot: Pilot[None]) -> list[str]:
    """The table as text, without its header."""
    grid = pilot.app.query_one(Grid)
    return [grid.render_line(y).text.rstrip() for y in range(1, 1 + grid.row_count)]


@pytest.mark.parametrize("text", ODD)
async def test_texts_of_users_are_drawn_as_they_are(text: str) -> None:
    async with Stage().run_test() as pilot:
        pilot.app.query_one(Grid).show((Row(key="k", cells=(Span(text), Span("after"))),))
        pilot.app.query_one(Lines).show((line(Span(text, Tone.BAD), " after"),))
        pilot.app.query_one(Strip).show(((line(text), line("right")),))
        pilot.app.query_one(Bar).show((Segment(key="k", line=line(text)),))
        await pilot.pause()
        assert str(pilot.app.query_one(Lines).content) == f"{text} after"
        assert drawn(pilot)[0].endswith("after")


async def test_wide_letters_never_push_the_next_column() -> None:
    async with Stage().run_test() as pilot:
        pilot.app.query_one(Grid).show(rows("形状形状形状", "plain"))
        await pilot.pause()
        assert drawn(pilot) == ["形状形… ok", "plain   ok"]


async def test_cursor_stays_on_row_when_rows_precede() -> None:
    async with Stage().run_test() as pilot:
        grid = pilot.app.query_one(Grid)
        grid.show(rows("a", "b"))
        grid.go_to("b")
        grid.show(rows("x", "a", "b"))
        await pilot.pause()
        assert grid.current == "b"


async def test_only_changed_rows_are_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Stage().run_test() as pilot:
        grid = pilot.app.query_one(Grid)
        grid.show(rows("a", "b", "c"))
        changed: list[tuple[str, str]] = []
        monkeypatch.setattr(grid, "update_cell", lambda row, column, cell: changed.append((row, column)))
        grid.show((*rows("a"), *rows("b", word="no"), *rows("c")))
        assert changed == [("b", "1")]


async def test_table_is_redrawn_only_when_colours_change(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)

    def colour(grid: Grid) -> str:  # of the row below the cursor's, which has a colour of its own
        return next(str(part.style.color) for part in grid.render_line(2) if "ok" in part.text and part.style)

    async with Stage().run_test() as pilot:
        grid = pilot.app.query_one(Grid)
        grid.show(rows("a", "b"))
        await pilot.pause()
        dark, changed = colour(grid), []
        with monkeypatch.context() as watched:
            watched.setattr(grid, "update_cell", lambda row, column, cell: changed.append((row, column)))
            grid.focus()
            await pilot.pause()
        assert changed == []
        pilot.app.theme = "textual-light"
        await pilot.pause()
        light = pilot.app.screen.get_component_rich_style("tone--good").color
        assert str(light) == colour(grid) != dark


async def test_table_truncates_with_ascii_sign_in_ascii() -> None:
    async with Stage().run_test() as pilot:
        pilot.app.query_one(Grid).show(rows("a name too long"))
        await pilot.pause()
        assert drawn(pilot) == ["a name… ok"]
        pilot.app.add_class("-ascii")
        await pilot.pause()
        assert drawn(pilot) == ["a name~ ok"]


async def test_shrinking_and_growing_table_keeps_its_keys() -> None:
    async with Stage().run_test() as pilot:
        grid = pilot.app.query_one(Grid)
        for names in (("a", "b", "c"), ("a",), (), ("d", "a")):
            grid.show(rows(*names))
            await pilot.pause()
            assert (grid.row_count, [row.key for row in grid.shown]) == (len(names), list(names))


async def test_strip_truncates_left_part_and_keeps_right() -> None:
    async with Stage().run_test(size=(20, 10)) as pilot:
        strip = pilot.app.query_one(Strip)
        strip.show(((line("a long sentence that does not fit"), line("run #42")),))
        await pilot.pause()
        assert strip.render_line(0).text == "a long sent… run #42"


async def test_strip_row_with_line_ends_stays_one_row() -> None:
    async with Stage().run_test(size=(20, 10)) as pilot:
        strip = pilot.app.query_one(Strip)
        strip.show(((line("a\nfile.py"), line("run #42")),))
        await pilot.pause()
        assert strip.render_line(0).text == "a file.py    run #42"


async def test_long_row_is_not_measured_as_wrapped() -> None:
    async with Stage().run_test(size=(40, 10)) as pilot:
        strip = Strip()
        strip.show(((line("x" * 150), ()),))
        await pilot.app.mount(strip)
        assert strip.get_content_height(pilot.app.size, pilot.app.size, 40) == 1


async def test_strip_height_is_its_number_of_rows() -> None:
    async with Stage().run_test() as pilot:
        strip = pilot.app.query_one(Strip)
        strip.styles.height = "auto"
        for words in (("a", "b"), ("a", "b", "c", "d"), ("a",)):
            strip.show(tuple((line(word), ()) for word in words))
            await pilot.pause()
            assert strip.size.height == len(words)


async def test_bar_omits_overflow_and_reports_clicked_key() -> None:
    app = Stage()
    async with app.run_test(size=(20, 10)) as pilot:
        bar = pilot.app.query_one(Bar)
        bar.show(tuple(Segment(key=name, line=line(name)) for name in ("first", "second", "third", "fourth")))
        await pilot.pause()
        assert bar.render_line(0).text.rstrip() == "first second third"
        await pilot.click(Bar, offset=(8, 0))
        assert app.chosen == ["second"]


async def test_a_bar_keeps_the_segment_that_is_active() -> None:
    async with Stage().run_test(size=(20, 10)) as pilot:
        bar = pilot.app.query_one(Bar)
        names = ("first", "second", "third", "fourth")
        bar.show(tuple(Segment(key=name, line=line(name), active=name == "fourth") for name in names))
        await pilot.pause()
        assert bar.render_line(0).text.rstrip() == "first second fourth"


@pytest.mark.parametrize(
    ("width", "drawn_line"),
    [
        (40, " What now?  y yes, all of it  esc stay"),
        (32, " Wh…  y yes, all of it  esc stay"),
    ],
)
async def test_question_is_cut_before_its_answers(width: int, drawn_line: str) -> None:
    async with Stage().run_test(size=(width, 12)) as pilot:
        ask = pilot.app.query_one(Ask)
        ask.ask("subject", "What now?", (Answer(key="y", label="yes, all of it"),), answered=lambda _: None)
        await pilot.pause()
        assert ask.render_line(0).text == drawn_line


@pytest.mark.parametrize(("room", "places"), [(20, [0, 1, 2, 3]), (19, [0, 1, 3]), (14, [0, 3]), (9, [3]), (3, [])])
def test_narrow_bar_omits_least_important_then_last(room: int, places: list[int]) -> None:
    assert kept([4, 4, 4, 5], [1, 1, 1, 3], gap=1, room=room) == places


async def test_shown_bar_keys_are_where_clicked() -> None:
    async with Stage().run_test(size=(12, 10)) as pilot:
        bar = pilot.app.query_one(Bar)
        bar.show(
            tuple(
                Segment(key=name, line=line(name), keep=keep) for name, keep in (("run", 1), ("open", 0), ("quit", 3))
            )
        )
        await pilot.pause()
        assert bar.render().plain == "run quit "
        await pilot.click(Bar, offset=(5, 0))
        assert pilot.app.chosen == ["quit"]  # type: ignore[attr-defined]
