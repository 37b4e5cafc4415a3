"""The user's source: read-only while its file is watched, edited on request.
A TextArea coloured by the incremental lexer instead of a parse of the whole file.  This uses three private members of
TextArea (`_build_highlight_map`, `_highlights`, `_line_cache`); if a version of Textual lacks them, the source stays
plain and everything else works.  The lexer is created in a thread; until then the source is plain.  The editor never
reads or writes a file.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from itertools import accumulate

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style as RichStyle
from rich.text import Text
from textual.binding import Binding
from textual.color import Color
from textual.events import Key
from textual.strip import Strip
from textual.timer import Timer
from textual.widgets import TextArea
from textual.widgets.text_area import TextAreaTheme

from kgtui.background import in_background
from kgtui.highlighting.cleaning import made_visible
from kgtui.highlighting.incremental import IncrementalLexer, Splice
from kgtui.highlighting.inks import Span, ThemedInks, rich_style
from kgtui.highlighting.kinds import TextKind
from kgtui.highlighting.lexers import is_made, lexer_for
from kgtui.highlighting.marks import Mark
from kgtui.widgets.text.line_cache import AcyclicCache
from kgtui.widgets.text.source_finding import SourceFinder
from kgtui.widgets.text.typed_keys import run_own_binding

SLICE_CHARACTERS = 3_000
SLICE_PAUSE_S = 0.005
_DRAWN_LINES = 1024  # cached, as in TextArea
PRIVATE_MEMBERS = ("_build_highlight_map", "_highlights", "_line_cache")
_OF_EDITING = frozenset({"undo", "redo"})
WRONG = Mark(glyph="!", style="bold $text-error")


class SourceEditor(TextArea):
    """One Python file.  While `read_only`, every letter except h, j, k, l and G is left to the app."""

    DEFAULT_CSS = """
    SourceEditor {
        & > .source--linked { background: $accent 25%; }
        & > .source--found { background: $warning; color: $background; text-style: bold; }
        &:ansi > .source--linked { background: transparent; text-style: bold underline; }
        &:ansi > .source--found { background: transparent; text-style: bold reverse underline; }
    }
    """
    COMPONENT_CLASSES = {"source--linked", "source--found"}  # noqa: RUF012  # Textual's own form
    BINDINGS = [  # noqa: RUF012  # Textual's own form; while editing these letters are text and never get here
        Binding("h", "cursor_left", "Left", id="source.left", show=False),
        Binding("j", "cursor_down", "Down", id="source.down", show=False),
        Binding("k", "cursor_up", "Up", id="source.up", show=False),
        Binding("l", "cursor_right", "Right", id="source.right", show=False),
        Binding("ctrl+home", "first_line", "First line", id="source.first", show=False),
        Binding("G,ctrl+end", "last_line", "Last line", id="source.last", show=False),
    ]

    def __init__(
        self, text: str = "", *, read_only: bool = True, id: str | None = None, classes: str | None = None
    ) -> None:
        # Before TextArea.__init__, which loads and colours the text.
        self._colours = IncrementalLexer()
        self._slice: Timer | None = None
        self._awaits_lexer = False
        self._mark_by_row: dict[int, Mark] = {}
        self._linked_row: int | None = None
        self.finder = SourceFinder(self)
        super().__init__(
            text,
            read_only=read_only,
            soft_wrap=False,
            show_line_numbers=True,
            tab_behavior="indent",
            id=id,
            classes=classes,
        )
        self._line_cache = AcyclicCache(_DRAWN_LINES)
        self.register_theme(_SourceTheme(name="source"))
        self.theme = "source"

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Whether an action is available: undo and redo are left to the app while read-only."""
        return not (self.read_only and action in _OF_EDITING) and super().check_action(action, parameters)

    async def on_key(self, event: Key) -> None:
        """Indent a new line like the previous one, and one step deeper after a colon; move and delete at once."""
        if self.read_only or event.is_printable:
            return
        if event.key != "enter":
            await run_own_binding(self, event)
            return
        event.stop()
        event.prevent_default()
        row, column = min(self.selection)
        before = self.document.get_line(row)[:column]
        indent = before[: len(before) - len(before.lstrip())]
        deeper = " " * self.indent_width if before.rstrip().endswith(":") else ""
        self.replace(f"\n{indent}{deeper}", *self.selection, maintain_selection_offset=False)

    def on_mount(self) -> None:
        """Colour the text that was not coloured at loading."""
        self._colour_later()

    def goto(self, line: int, column: int = 1) -> None:
        """Put the cursor at a line and column, both counted from one, and show it; beyond the end is the end."""
        self.move_cursor((max(line, 1) - 1, max(column, 1) - 1), center=True)

    def reload(self, text: str) -> None:
        """Load the text that another program saved; cursor, scroll position and marks stay at their lines."""
        if text == self.text:
            return
        cursor, scroll = self.cursor_location, self.scroll_offset
        self.load_text(text)
        self.move_cursor(cursor)
        self.scroll_to(scroll.x, scroll.y, animate=False)

    def grow(self, text: str) -> None:
        """Show a text that continues the previous one, with its end visible; any other text is loaded."""
        before = self.text
        if text.startswith(before):
            self.insert(text[len(before) :], self.document.end, maintain_selection_offset=False)
        else:
            self.load_text(text)
        # In the first column: the end of a long line would scroll the others out of view.
        self.move_cursor((self.document.line_count - 1, 0))

    def set_marks(self, marks: Mapping[int, Mark] | Iterable[int]) -> None:
        """Mark lines, counted from one, instead of the previous ones; lines without a mark are marked as wrong."""
        if not isinstance(marks, Mapping):
            marks = dict.fromkeys(marks, WRONG)
        self._mark_by_row = {line - 1: mark for line, mark in marks.items()}
        self.refresh()

    def link(self, line: int | None) -> None:
        """Highlight and show the line that corresponds to one of another view; the cursor stays.  None removes it."""
        self._linked_row = None if line is None else line - 1
        if self._linked_row is not None:
            top, height = self.scroll_offset.y, self.size.height
            if height and not top <= self._linked_row < top + height:
                self.scroll_to(y=max(0, self._linked_row - height // 2), animate=False, force=True)
        self.refresh()

    def rewrite(self, text: str) -> None:
        """Replace the whole text, as an edit that can be undone."""
        self.replace(text, (0, 0), self.document.end, maintain_selection_offset=False)
        self.move_cursor((0, 0))

    def action_first_line(self) -> None:
        """Go to the top."""
        self.move_cursor((0, 0))

    def action_last_line(self) -> None:
        """Go to the bottom: while editing to the end of the text, else to the beginning of its last line."""
        self.move_cursor((self.document.line_count - 1, 0) if self.read_only else self.document.end)

    def get_line(self, line_index: int) -> Text:
        """The line as drawn, without terminal control characters."""
        return Text(made_visible(self.document.get_line(line_index)), end="", no_wrap=True)

    def render_line(self, y: int) -> Strip:
        """The line as TextArea draws it, with its mark."""
        strip = super().render_line(y)
        row = y + self.scroll_offset.y
        if row >= self.document.line_count:
            return strip
        if row == self._linked_row:
            strip = self._pointed_out(strip)
        if row == self.cursor_location[0] and (found := self.finder.released) is not None:
            strip = self._highlighted(strip, found)
        mark = self._mark_by_row.get(row)
        return strip if mark is None else self._marked(strip, row, mark)

    def _build_highlight_map(self) -> None:
        """Called by TextArea whenever its text has changed."""
        if not all(hasattr(self, name) for name in PRIVATE_MEMBERS):
            return
        splice = self._colours.replace(self.document.lines)
        self._move_marks(splice)
        if is_made(TextKind.PYTHON):
            self._colours.advance(SLICE_CHARACTERS)
        self._line_cache.clear()
        self._highlights = _Highlights(self.document.lines, self._colours)
        self._colour_later()

    def _colour_later(self) -> None:
        if not self.is_running or self._colours.is_finished:
            return
        if not is_made(TextKind.PYTHON):
            if not self._awaits_lexer:
                self._awaits_lexer = True
                # After the first paint, which a busy thread would delay.
                self.call_after_refresh(in_background, self, self._make_lexer, group="lexer")
        elif self._slice is None:
            self._slice = self.set_timer(SLICE_PAUSE_S, self._colour_on)

    async def _make_lexer(self) -> None:
        await asyncio.to_thread(lexer_for, TextKind.PYTHON)
        self._colour_later()

    def _colour_on(self) -> None:
        """Colour one more slice; pending keys are handled before the next."""
        self._slice = None
        rows = self._colours.advance(SLICE_CHARACTERS)
        self._highlights.clear()
        self._line_cache.clear()
        top = self.scroll_offset.y
        if rows.start < top + self.size.height and rows.stop > top:
            self.refresh()
        self._colour_later()

    def _move_marks(self, splice: Splice) -> None:
        """Keep the marks below an edit at their lines."""
        end, by = splice.first + splice.removed, splice.added - splice.removed
        if by and self._mark_by_row:
            self._mark_by_row = {row + by if row >= end else row: mark for row, mark in self._mark_by_row.items()}

    def _pointed_out(self, strip: Strip) -> Strip:
        """The row with the background of a linked line; its inks are unchanged."""
        style = self.get_component_rich_style("source--linked")
        backdrop = RichStyle(bgcolor=style.bgcolor, bold=style.bold, underline=style.underline)
        return Strip(
            [Segment(text, (own or RichStyle()) + backdrop, control) for text, own, control in strip],
            strip.cell_length,
        )

    def _highlighted(self, strip: Strip, found: tuple[int, int]) -> Strip:
        """The row with the match under the cursor highlighted, as far as it is in view."""
        row, column = found
        line = self.document.get_line(row)
        before, match = (made_visible(text) for text in (line[:column], line[column:][: len(self.finder.sought)]))
        start = cell_len(before.expandtabs(self.indent_width)) - self.scroll_offset.x
        hidden = max(0, -start)
        style = self.get_component_rich_style("source--found")
        return _overlaid(strip, match[hidden:], style, self.gutter_width + start + hidden)

    def _marked(self, strip: Strip, row: int, mark: Mark) -> Strip:
        """Draw the glyph behind the line number, and the note at the right edge if there is room."""
        style = rich_style(mark.style, self.app.theme_variables, self.styles.background)
        place = self.gutter_width - 2
        strip = _overlaid(strip, mark.glyph, style, place)
        width = self.scrollable_content_region.width
        start = width - cell_len(mark.note) - 1
        code_end = self.gutter_width + cell_len(self.document[row].expandtabs(self.indent_width)) - self.scroll_offset.x
        if mark.note and start > code_end + 1:
            strip = _overlaid(strip, mark.note, style, start)
        return strip


class _Highlights(dict[int, list[tuple[int, int | None, str]]]):
    """The inks of each row in TextArea's form: in bytes, computed when the row is drawn."""

    def __init__(self, lines: list[str], colours: IncrementalLexer) -> None:
        super().__init__()
        self._lines = lines
        self._colours = colours

    def __bool__(self) -> bool:
        return True  # otherwise TextArea would ignore it

    def __missing__(self, row: int) -> list[tuple[int, int | None, str]]:
        self[row] = in_bytes(self._lines[row], self._colours.spans(row))
        return self[row]


class _SourceTheme(TextAreaTheme):
    """A TextArea theme with colours of the app's style sheet, and inks of its theme."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._inks = ThemedInks()

    def apply_css(self, text_area: TextArea) -> None:
        """Called by TextArea before each drawing."""
        super().apply_css(text_area)
        inks = self._inks.under(text_area.app.theme_variables, _background(self.base_style))
        self.syntax_styles = {str(ink): style for ink, style in inks.items()}


def in_bytes(line: str, spans: Iterable[Span]) -> list[tuple[int, int | None, str]]:
    """The spans of a line with positions in UTF-8 bytes."""
    if line.isascii():
        return [(start, end, ink) for start, end, ink in spans]
    place = list(accumulate((len(character.encode("utf-8", "replace")) for character in line), initial=0))
    return [(place[start], place[end], ink) for start, end, ink in spans]


def _background(style: RichStyle | None) -> Color:
    return Color.from_rich_color(style.bgcolor) if style and style.bgcolor else Color(0, 0, 0)


def _overlaid(strip: Strip, text: str, style: RichStyle, start: int) -> Strip:
    """The strip with part of it replaced by `text`, on the same background."""
    end = start + cell_len(text)
    covered = strip.crop(start, end)
    below = next((segment.style for segment in covered if segment.style), RichStyle())
    return Strip.join([strip.crop(0, start), Strip([Segment(text, below + style)]), strip.crop(end)])
