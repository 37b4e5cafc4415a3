"""The view of IR, machine code, logs and differences."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from rich.style import Style
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.geometry import Offset
from textual.selection import Selection

from kgtui.highlighting.marks import Mark
from kgtui.widgets.text.code_view import LONGEST_LINE, LONGEST_LOG_LINE, CodeView

SASS = "".join(f"        /*{number * 16:04x}*/    LDG.E R{number}, desc[UR4][R2.64] ;\n" for number in range(20_000))


class Bench(App[None]):
    """Only the view, and a letter that the app wants."""

    BINDINGS = [Binding("n", "note('n')"), Binding("e", "note('e')"), Binding("enter", "note('enter')")]  # noqa: RUF012

    def __init__(self, view: CodeView | None = None) -> None:
        super().__init__()
        self.view = view or CodeView()
        self.noted: list[str] = []
        self.moved: list[int] = []

    def compose(self) -> ComposeResult:
        yield self.view

    def on_mount(self) -> None:
        self.view.focus()

    def action_note(self, key: str) -> None:
        self.noted.append(key)

    def on_code_view_cursor_moved(self, message: CodeView.CursorMoved) -> None:
        self.moved.append(message.line)

    @property
    def rows(self) -> list[str]:
        return [self.view.render_line(y).text.rstrip() for y in range(self.view.size.height)]

    def style(self, row: int, word: str) -> Style:
        """The style of the piece of a row that begins with `word`."""
        return next(part.style or Style() for part in self.view.render_line(row) if part.text.strip().startswith(word))


@pytest.fixture(autouse=True)
def colourful(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("NO_COLOR", raising=False)
    yield


async def test_lines_are_numbered_and_text_is_never_markup() -> None:
    app = Bench()
    async with app.run_test(size=(40, 4)):
        app.view.show_text("x[0]\n[bold]y[/bold]\n", kind="plain")
        assert app.rows == ["1  x[0]", "2  [bold]y[/bold]", "", ""]


async def test_view_without_text_shows_note() -> None:
    app = Bench(CodeView(empty="nothing [yet]"))
    async with app.run_test(size=(40, 3)):
        assert app.rows == ["nothing [yet]", "", ""]
        assert (app.view.line_count, app.view.cursor_line, app.view.current_text) == (0, 1, "")


async def test_code_is_coloured_by_theme() -> None:
    app = Bench()
    async with app.run_test(size=(80, 5)) as pilot:
        app.view.show_text(SASS, kind="sass")
        dark = app.style(1, "LDG.E").color
        assert dark != app.style(1, ",").color
        app.theme = "textual-light"
        await pilot.pause()
        assert app.style(1, "LDG.E").color != dark


async def test_unknown_token_kind_is_plain() -> None:
    app = Bench()
    async with app.run_test(size=(40, 3)):
        app.view.show_text("LDG R1", kind="cubin")
        assert app.rows[0] == "1  LDG R1"


async def test_multiline_docstring_is_text_not_code() -> None:
    app = Bench()
    async with app.run_test(size=(40, 5)):
        app.view.show_text('def f():\n    """Sum\n    for i in x\n    """\n    for i in x: pass\n', kind="python")
        assert app.style(2, "for").color == app.style(1, '"""').color != app.style(4, "for").color


async def test_only_the_lines_on_the_screen_are_coloured(monkeypatch: pytest.MonkeyPatch) -> None:
    coloured: list[str] = []
    monkeypatch.setattr("kgtui.highlighting.lexers.spans_of_line", lambda line, kind: coloured.append(line) or ())
    app = Bench()
    async with app.run_test(size=(80, 10)) as pilot:
        app.view.show_text(SASS, kind="sass")
        await pilot.press("G")
        await pilot.pause()
    assert len(set(coloured)) <= 2 * 10 + 10


async def test_cursor_moves_by_keys_and_reports_position() -> None:
    app = Bench()
    async with app.run_test(size=(80, 10)) as pilot:
        app.view.show_text(SASS, kind="sass")
        await pilot.press("j", "down", "k", "pagedown", "G", "g")
        await pilot.pause()
        assert app.moved == [2, 3, 2, 11, 20_000, 1]
        assert app.rows[0].startswith("    1  ")


async def test_cursor_line_is_visible_and_highlighted() -> None:
    app = Bench()
    async with app.run_test(size=(80, 10)):
        app.view.show_text(SASS, kind="sass")
        app.view.go_to(10_000)
        row = next(row for row, text in enumerate(app.rows) if text.startswith("10000  "))
        assert app.style(row, "LDG").bgcolor != app.style(row - 1, "LDG").bgcolor
        assert app.view.current_text.strip().startswith("/*270f0*/")


async def test_going_beyond_the_text_stops_at_its_ends() -> None:
    app = Bench()
    async with app.run_test():
        app.view.show_text("a\nb", kind="plain")
        app.view.go_to(99)
        assert app.view.cursor_line == 2
        app.view.go_to(-5)
        assert app.view.cursor_line == 1


async def test_new_text_starts_at_top() -> None:
    app = Bench()
    async with app.run_test(size=(80, 10)):
        app.view.show_text(SASS, kind="sass")
        app.view.go_to(500)
        app.view.show_text(SASS, kind="sass")
        assert (app.view.cursor_line, app.view.scroll_offset.y) == (1, 0)


async def test_search_finds_all_and_keys_cycle() -> None:
    app = Bench()
    async with app.run_test(size=(80, 6)) as pilot:
        app.view.show_text("Load\nx\nload load\n" + "y\n" * 50 + "LOAD", kind="plain")
        assert app.view.finder.search("load") == 4
        visited = [app.view.cursor_line]
        for key in ("n", "n", "n", "n", "N"):
            await pilot.press(key)
            visited.append(app.view.cursor_line)
        assert visited == [1, 3, 3, 54, 1, 54]
        assert any(row.startswith("54  LOAD") for row in app.rows)


async def test_hits_are_highlighted_and_current_one_more() -> None:
    app = Bench()
    async with app.run_test(size=(80, 6)):
        app.view.show_text("a load b load c\nload", kind="plain")
        app.view.finder.search("load")
        here, other, plain = (app.style(row, word).bgcolor for row, word in ((0, "load"), (1, "load"), (0, "b")))
        assert len({here, other, plain}) == 3
        app.view.finder.search("")
        assert app.style(1, "load").bgcolor not in {here, other}


async def test_hit_beyond_right_edge_is_scrolled_to() -> None:
    app = Bench()
    async with app.run_test(size=(40, 6)):
        app.view.show_text("x" * 300 + "needle", kind="plain")
        assert app.view.finder.search("needle") == 1
        assert "needle" in app.rows[0]


async def test_search_keys_go_to_app_without_search() -> None:
    app = Bench()
    async with app.run_test() as pilot:
        app.view.show_text("load", kind="plain")
        await pilot.press("n", "e", "enter")
        assert app.noted == ["n", "e", "enter"]


async def test_marks_have_their_glyph_behind_the_number() -> None:
    app = Bench()
    async with app.run_test(size=(40, 3)):
        app.view.show_text("a\nb", kind="plain")
        app.view.set_marks({2: Mark(glyph="▲", style="$text-error")})
        assert app.rows[:2] == ["1  a", "2▲ b"]


async def test_linked_lines_are_highlighted_and_first_is_visible() -> None:
    app = Bench()
    async with app.run_test(size=(80, 10)):
        app.view.show_text(SASS, kind="sass")
        app.view.link({7_000, 7_001})
        row = next(row for row, text in enumerate(app.rows) if text.startswith(" 7000  "))
        assert app.style(row, "LDG").bgcolor == app.style(row + 1, "LDG").bgcolor != app.style(row + 2, "LDG").bgcolor
        assert app.view.cursor_line == 1


async def test_log_follows_end_until_scrolled_up() -> None:
    app = Bench()
    async with app.run_test(size=(40, 5)) as pilot:
        app.view.show_text("", kind="log")
        app.view.append_lines(f"line {number}" for number in range(1, 101))
        await pilot.pause()
        assert app.rows[-1] == "100  line 100"
        app.view.action_first()
        app.view.append_lines(["line 101"])
        await pilot.pause()
        assert (app.rows[0], app.view.cursor_line) == ("  1  line 1", 1)


async def test_log_keeps_last_lines_with_their_numbers() -> None:
    app = Bench(CodeView(most_lines=10))
    async with app.run_test(size=(40, 12)) as pilot:
        app.view.finder.search("9")
        app.view.append_lines(f"line {number}" for number in range(1, 26))
        await pilot.pause()
        assert (app.rows[0], app.rows[9], app.view.line_count) == ("16  line 16", "25  line 25", 10)
        app.view.finder.hit(1)
        assert app.view.current_text == "line 19"


async def test_log_position_stays_when_old_lines_are_dropped() -> None:
    app = Bench(CodeView(most_lines=100))
    async with app.run_test(size=(40, 5)) as pilot:
        app.view.append_lines(f"line {number}" for number in range(1, 101))
        app.view.go_to(50)
        await pilot.pause()
        before = app.rows
        app.view.append_lines(f"line {number}" for number in range(101, 121))
        await pilot.pause()
        assert [row.split() for row in app.rows] == [row.split() for row in before]


async def test_printed_text_is_made_safe_and_cut() -> None:
    app = Bench()
    async with app.run_test(size=(40, 4)):
        app.view.append_lines(["\x1b[31mred\x1b[0m [x]", "two\nlines", "x" * 10_000])
        assert app.rows[:3] == ["1  red [x]", "2  two", "3  lines"]
        app.view.go_to(4)
        assert len(app.view.current_text) == LONGEST_LOG_LINE
        app.view.show_text("y" * 10_000, kind="llir")
        assert len(app.view.current_text) == LONGEST_LINE


async def test_wide_letters_stay_inside_the_screen() -> None:
    app = Bench()
    async with app.run_test(size=(20, 3)):
        app.view.show_text("语言" * 30, kind="plain")
        assert [app.view.render_line(row).cell_length for row in range(2)] == [app.view.size.width] * 2


async def test_selection_is_copied_without_numbers() -> None:
    app = Bench()
    async with app.run_test():
        app.view.show_text("alpha\nbeta\ngamma", kind="plain")
        app.view.set_marks({2: Mark(glyph="!", style="$text-error")})
        assert app.view.get_selection(Selection(Offset(2, 0), Offset(2, 1))) == ("pha\nbe", "\n")


async def test_the_mouse_selects_text_and_puts_the_cursor() -> None:
    app = Bench()
    async with app.run_test(size=(40, 6)) as pilot:
        app.view.show_text("alpha\nbeta\ngamma", kind="plain")
        await pilot.pause()
        await pilot.click(CodeView, offset=(5, 1))
        assert app.view.cursor_line == 2
        await pilot.mouse_down(CodeView, offset=(3, 0))
        await pilot.hover(CodeView, offset=(4, 1))
        await pilot.mouse_up(CodeView, offset=(4, 1))
        assert app.screen.get_selected_text() == "alpha\nbe"


async def test_every_size_of_terminal_is_drawn() -> None:
    app = Bench()
    async with app.run_test() as pilot:
        app.view.show_text(SASS, kind="sass")
        for size in ((1, 1), (5, 2), (300, 100), (80, 24)):
            await pilot.resize_terminal(*size)
            assert all(app.view.render_line(y).cell_length == app.view.size.width for y in range(app.view.size.height))


async def test_view_filled_before_layout_starts_at_position() -> None:
    class Early(Bench):
        def on_mount(self) -> None:
            super().on_mount()
            self.view.show_text("x" * 30 + "needle\n" + "y\n" * 100, kind="plain")
            self.view.finder.search("needle")
            self.view.go_to(90)

    app = Early()
    async with app.run_test(size=(60, 10)) as pilot:
        await pilot.pause()
        assert app.view.scroll_offset.x == 0
        assert any(row.startswith(" 90  y") for row in app.rows)
