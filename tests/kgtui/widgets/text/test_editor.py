"""The source pane's text: coloured, marked, quiet while watching, and an editor when asked."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.widgets import TextArea
from textual.widgets.text_area import Selection

from kgtui.highlighting.inks import Ink, Span
from kgtui.highlighting.kinds import TextKind
from kgtui.highlighting.lexers import lexer_for
from kgtui.highlighting.marks import Mark
from kgtui.widgets.text.editor import PRIVATE_MEMBERS, SourceEditor, in_bytes

SNIPPET = "import triton\n\ndef kernel(x):\n    return x + 1  # note\n"


class Bench(App[None]):
    """Only the editor, and letters that the app wants."""

    BINDINGS = [  # noqa: RUF012  # Textual's own form
        Binding("e", "note('e')"),
        Binding("x", "note('x')"),
        Binding("slash", "note('/')"),
        Binding("ctrl+z", "note('ctrl+z')"),
    ]

    def __init__(self, text: str = SNIPPET, *, read_only: bool = True) -> None:
        super().__init__()
        self.editor = SourceEditor(text, read_only=read_only)
        self.noted: list[str] = []

    def compose(self) -> ComposeResult:
        yield self.editor

    def on_mount(self) -> None:
        self.editor.cursor_blink = False
        self.editor.focus()

    def action_note(self, key: str) -> None:
        self.noted.append(key)

    def colours(self, row: int) -> dict[str, str]:
        """Foreground colours of the words on a screen row of the editor."""
        return {
            segment.text.strip(): segment.style.color.name
            for segment in self.editor.render_line(row)
            if segment.style is not None and segment.style.color is not None and segment.text.strip()
        }

    def row(self, row: int) -> str:
        return self.editor.render_line(row).text


@pytest.mark.parametrize(
    ("text", "place", "then"),
    [
        ("def f(x):\n    return x", (1, 12), "def f(x):\n    return x\n    y"),
        ("    for i in x:", (0, 15), "    for i in x:\n        y"),
        ("def f(x):  return x", (0, 9), "def f(x):\n    y  return x"),
        ("        x", (0, 2), "  \n  y      x"),
        ("x = 1", (0, 5), "x = 1\ny"),
        ("\tx", (0, 2), "\tx\n\ty"),
    ],
)
async def test_new_line_begins_below_the_previous(text: str, place: tuple[int, int], then: str) -> None:
    app = Bench(text, read_only=False)
    async with app.run_test() as pilot:
        app.editor.move_cursor(place)
        await pilot.press("enter", "y")
        assert app.editor.text == then


async def test_enter_replaces_selection_and_can_be_undone() -> None:
    app = Bench("    abc def", read_only=False)
    async with app.run_test() as pilot:
        app.editor.selection = Selection((0, 11), (0, 7))
        await pilot.press("enter")
        assert app.editor.text == "    abc\n    "
        await pilot.press("ctrl+z")
        assert app.editor.text == "    abc def"


def drawn(app: Bench) -> None:
    """As the compositor does: the style sheet is applied before lines are asked for."""
    app.editor.render_lines(app.editor.size.region)


@pytest.fixture(autouse=True)
def colourful(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """With the lexer made, as it is a moment after the start."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    lexer_for(TextKind.PYTHON)
    yield


async def test_private_members_of_textual_for_colours_exist() -> None:
    """If this fails after a change of Textual, sources have no colours: see `_build_highlight_map`."""
    area = TextArea()
    assert [name for name in PRIVATE_MEMBERS if not hasattr(area, name)] == []
    app = Bench(read_only=False)
    async with app.run_test():
        drawn(app)
        plain = app.colours(3)["x +"]
        keyword = app.colours(3)["return"]
        assert keyword != plain
        app.editor.insert("'", (3, 4))
        drawn(app)
        assert "return" not in app.colours(3)
        app.editor.undo()
        drawn(app)
        assert app.colours(3)["return"] == keyword


async def test_source_without_those_members_is_plain_and_editable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgtui.widgets.text.editor.PRIVATE_MEMBERS", ("_gone_from_textual",))
    app = Bench(read_only=False)
    async with app.run_test() as pilot:
        await pilot.press("a")
        drawn(app)
        assert app.editor.text == "a" + SNIPPET
        assert app.colours(3)["return x + 1  # note"]


async def test_cursor_line_and_selection_keep_colours() -> None:
    app = Bench()
    async with app.run_test():
        drawn(app)
        before = app.colours(3)["return"]
        app.editor.goto(4)
        drawn(app)
        assert app.colours(3)["return"] == before
        app.editor.select_all()
        drawn(app)
        assert app.colours(2)["def"] == before


async def test_a_change_of_theme_changes_the_colours() -> None:
    app = Bench()
    async with app.run_test() as pilot:
        drawn(app)
        dark = app.colours(3)["return"]
        app.theme = "textual-light"
        await pilot.pause()
        drawn(app)
        assert app.colours(3)["return"] != dark


async def test_large_file_is_coloured_to_its_end() -> None:
    app = Bench("x = 1\n" * 3_000)
    async with app.run_test() as pilot:
        while not app.editor._colours.is_finished:
            await pilot.pause()
        app.editor.goto(3_000)
        await pilot.pause()
        drawn(app)
        assert all(len(app.colours(row)) > 1 for row in range(app.editor.size.height - 1))


async def test_source_is_plain_until_lexer_is_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    may_go_on = threading.Event()
    monkeypatch.setattr("kgtui.highlighting.lexers._MADE", {})
    monkeypatch.setattr("kgtui.widgets.text.editor.lexer_for", lambda kind: may_go_on.wait() and lexer_for(kind))
    app = Bench(read_only=False)
    async with app.run_test() as pilot:
        await pilot.press("y", "enter")
        drawn(app)
        assert [app.row(row).split(maxsplit=1)[1].rstrip() for row in (0, 1)] == ["y", "import triton"]
        assert [*app.colours(4)] == ["5", "return x + 1  # note"]
        may_go_on.set()
        while not app.editor._colours.is_finished:
            await pilot.pause()
        drawn(app)
        assert {"return", "# note"} <= set(app.colours(4))
        assert app.colours(4)["return"] != app.colours(4)["x +"]


def test_places_are_counted_in_bytes() -> None:
    assert in_bytes("é = '→' # x", [Span(4, 7, Ink.STRING), Span(8, 11, Ink.COMMENT)]) == [
        (5, 10, Ink.STRING),
        (11, 14, Ink.COMMENT),
    ]


async def test_colours_match_letters_of_non_ascii_line() -> None:
    app = Bench("é = '→→' # straße\n")
    async with app.run_test():
        drawn(app)
        assert {"'→→'", "# straße"} <= set(app.colours(0))


async def test_letters_reach_app_and_hjkl_move_while_watching() -> None:
    app = Bench()
    async with app.run_test() as pilot:
        await pilot.press("e", "x", "slash", "j", "j", "l")
        assert (app.noted, app.editor.cursor_location, app.editor.text) == (["e", "x", "/"], (2, 1), SNIPPET)
        await pilot.press("G")
        assert app.editor.cursor_location == (4, 0)
        await pilot.press("k", "h", "ctrl+home")
        assert app.editor.cursor_location == (0, 0)


async def test_while_editing_every_letter_is_text() -> None:
    app = Bench("", read_only=False)
    async with app.run_test() as pilot:
        await pilot.press("e", "x", "slash", "j", "k", "l", "h", "g", "G")
        assert (app.noted, app.editor.text) == ([], "ex/jklhgG")


async def test_goto_is_one_based_and_stays_in_file() -> None:
    app = Bench()
    async with app.run_test():
        app.editor.goto(4, 5)
        assert app.editor.cursor_location == (3, 4)
        app.editor.goto(99, 99)
        assert app.editor.cursor_location == (4, 0)
        app.editor.goto(0, 0)
        assert app.editor.cursor_location == (0, 0)


async def test_marks_are_behind_line_number_with_note() -> None:
    app = Bench()
    async with app.run_test(size=(60, 10)):
        app.editor.set_marks({4: Mark(glyph="✗", style="$text-error", note="3 failing [x]")})
        drawn(app)
        assert app.row(3).strip().startswith("4✗     return x + 1  # note")
        assert app.row(3).rstrip().endswith("3 failing [x]")
        assert app.row(2).strip() == "3  def kernel(x):"


async def test_marks_replace_earlier_marks() -> None:
    app = Bench()
    async with app.run_test():
        app.editor.set_marks((1,))
        app.editor.set_marks((3,))
        drawn(app)
        assert (app.row(0).strip(), app.row(2).strip()) == ("1  import triton", "3! def kernel(x):")


async def test_a_note_never_covers_the_code() -> None:
    app = Bench("x" * 60)
    async with app.run_test(size=(70, 10)):
        app.editor.set_marks({1: Mark(glyph="!", style="$text-error", note="a note that is long")})
        drawn(app)
        assert "x" * 60 in app.row(0)
        assert "note" not in app.row(0)


async def test_marks_follow_their_lines_when_lines_are_added() -> None:
    app = Bench(read_only=False)
    async with app.run_test():
        app.editor.set_marks((4,))
        app.editor.insert("\n\n", (1, 0))
        drawn(app)
        assert app.row(5).strip() == "6!     return x + 1  # note"


async def test_a_reload_keeps_the_cursor_and_the_scroll() -> None:
    app = Bench("x = 1\n" * 200)
    async with app.run_test() as pilot:
        app.editor.goto(100, 3)
        await pilot.pause()
        scroll = app.editor.scroll_offset
        app.editor.reload("x = 1\n" * 150 + "y = 2\n")
        await pilot.pause()
        assert (app.editor.cursor_location, app.editor.scroll_offset) == ((99, 2), scroll)


async def test_a_hit_near_the_margin_shows_whole_lines() -> None:
    app = Bench(f"{'x' * 100}load\nx = load\n", read_only=False)
    async with app.run_test(size=(60, 10)) as pilot:
        app.editor.finder.search("load")
        await pilot.pause()
        assert app.editor.scroll_offset.x > 40
        app.editor.finder.hit(1)
        await pilot.pause()
        assert app.editor.scroll_offset.x == 0


async def test_search_wraps_and_smart_case_applies() -> None:
    app = Bench("Load\nload\nstore load\n")
    async with app.run_test():
        assert app.editor.finder.search("load") == 3
        found = [app.editor.selection.start]
        for step in (1, 1, 1, -1):
            app.editor.finder.hit(step)
            found.append(app.editor.selection.start)
        assert found == [(0, 0), (1, 0), (2, 6), (0, 0), (2, 6)]
        assert (app.editor.selected_text, app.editor.finder.search("Load"), app.editor.finder.search("absent")) == (
            "load",
            1,
            0,
        )


def test_a_mark_is_one_cell_wide() -> None:
    with pytest.raises(ValueError, match="takes 2"):
        Mark(glyph="!!", style="$text-error")


async def test_undo_key_reaches_app_while_read_only() -> None:
    app = Bench()
    async with app.run_test() as pilot:
        await pilot.press("ctrl+z")
        assert app.noted == ["ctrl+z"]


async def test_undo_key_undoes_typed_text() -> None:
    app = Bench(read_only=False)
    async with app.run_test() as pilot:
        await pilot.press("x", "ctrl+z")
        assert (app.editor.text, app.noted) == (SNIPPET, [])
