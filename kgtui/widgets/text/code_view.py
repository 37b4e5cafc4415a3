"""Read-only text: IR, machine code, logs and differences, of any length.
A line is prepared when it is drawn, so that a text of 20,000 lines costs as much as one of twenty.  Text is never
interpreted as markup, and terminal control is removed.  The view uses no file and no engine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rich.segment import Segment
from textual import events
from textual.binding import Binding
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from kgtui.highlighting.cleaning import lines_of
from kgtui.highlighting.kinds import TextKind
from kgtui.highlighting.marks import Mark
from kgtui.widgets.text.code_lines import CodeLines
from kgtui.widgets.text.finding import CodeFinder
from kgtui.widgets.text.line_painter import LinePainter
from kgtui.widgets.text.viewport import Viewport

LONGEST_LINE = 4_000
LONGEST_LOG_LINE = 400
MOST_LINES = 20_000


class CodeView(ScrollView, can_focus=True):
    """Coloured lines with numbers, marks and a cursor line.  Lines are counted from one."""

    ALLOW_SELECT = True
    COMPONENT_CLASSES = {  # noqa: RUF012  # Textual's own form
        "code--cursor",
        "code--empty",
        "code--gutter",
        "code--hit",
        "code--hit-here",
        "code--linked",
    }
    DEFAULT_CSS = """
    CodeView {
        background: $surface;
        color: $foreground;
        overflow: auto auto;
        scrollbar-size: 1 1;
        & > .code--cursor { background: $foreground 8%; }
        &:focus > .code--cursor { background: $primary 25%; }
        & > .code--empty { color: $foreground 78%; text-style: italic; }
        & > .code--gutter { color: $foreground 78%; }
        & > .code--hit { background: $warning 25%; }
        & > .code--hit-here { background: $warning; color: $background; text-style: bold; }
        & > .code--linked { background: $accent 20%; }
        &:ansi {
            & > .code--cursor { background: transparent; text-style: reverse; }
            & > .code--hit { background: transparent; text-style: underline; }
            & > .code--hit-here { background: transparent; text-style: bold reverse underline; }
            & > .code--linked { background: transparent; text-style: bold; }
        }
    }
    """
    BINDINGS = [  # noqa: RUF012  # Textual's own form
        Binding("k,up", "move(-1)", "Up", id="code.up", show=False),
        Binding("j,down", "move(1)", "Down", id="code.down", show=False),
        Binding("h,left", "sideways(-8)", "Left", id="code.left", show=False),
        Binding("l,right", "sideways(8)", "Right", id="code.right", show=False),
        Binding("pageup", "page(-1)", "Page up", id="code.page-up", show=False),
        Binding("pagedown", "page(1)", "Page down", id="code.page-down", show=False),
        Binding("g,home", "first", "First line", id="code.first", show=False),
        Binding("G,end", "last", "Last line", id="code.last", show=False),
        Binding("n", "hit(1)", "Next hit", id="code.next-hit", show=False),
        Binding("N", "hit(-1)", "Previous hit", id="code.previous-hit", show=False),
    ]

    class CursorMoved(Message):
        """Message: the cursor moved to another line, counted from one."""

        def __init__(self, view: CodeView, line: int) -> None:
            super().__init__()
            self.view = view
            self.line = line

        @property
        def control(self) -> CodeView:
            """The view that sent this."""
            return self.view

    def __init__(
        self,
        *,
        empty: str = "",
        line_numbers: bool = True,
        most_lines: int = MOST_LINES,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self.empty = empty
        self._most_lines = most_lines
        self._cursor = 1
        self._painter = LinePainter(self, line_numbers=line_numbers)
        self._viewport = Viewport(self)
        self.finder = CodeFinder(
            self._painter, self._viewport, cursor=lambda: self._cursor, go_to=self.go_to, redraw=self._redraw
        )

    # Content.

    def show_text(self, text: str, *, kind: str) -> None:
        """Show this text instead; `kind` is one of TextKind, any other kind is plain."""
        self._painter.show(CodeLines(lines_of(text), kind=TextKind(kind), longest=LONGEST_LINE))
        self._resize()
        self._painter.hits.seek(self._painter.lines)
        self._redraw()
        self._cursor = 1
        self._viewport.scroll(x=0, y=0)

    def append_lines(self, lines: Iterable[str]) -> None:
        """Add lines below, each cut to a readable length; the oldest are dropped if there are too many.
        The view follows the end while it is at the end, and stays if the user has scrolled up.
        """
        follows, was_last = self.scroll_offset.y >= self.max_scroll_y, self._cursor >= self._painter.lines.last
        known = self._painter.lines.last if self._painter.lines.texts else 0
        self._painter.lines.extend((part for line in lines for part in line.split("\n")), longest=LONGEST_LOG_LINE)
        self._painter.hits.extend(self._painter.lines, first=known + 1)
        dropped = self._painter.lines.drop_oldest(most=self._most_lines)
        self._painter.hits.drop_before(self._painter.lines.first)
        self._resize()
        self._cursor = self._painter.lines.last if was_last else max(self._cursor, self._painter.lines.first)
        if follows:
            self._viewport.scroll(y=self.max_scroll_y)
        elif dropped:
            self._viewport.scroll(y=self.scroll_offset.y - dropped)
        self.refresh()

    def set_marks(self, marks: Mapping[int, Mark]) -> None:
        """Mark these lines instead of the previous ones."""
        self._painter.marks = dict(marks)
        self._redraw()

    def link(self, lines: Iterable[int], *, reveal: bool = True) -> None:
        """Highlight the lines that correspond to a line of another view, and show the first of them."""
        self._painter.linked = frozenset(lines)
        self.refresh()  # not _redraw: cached strips depend on whether their line is linked
        if self._painter.linked and reveal:
            self._viewport.reveal_row(min(self._painter.linked) - self._painter.lines.first)

    # Cursor.

    @property
    def line_count(self) -> int:
        """The number of lines."""
        return len(self._painter.lines.texts)

    @property
    def cursor_line(self) -> int:
        """The line under the cursor; 1 if there is no text."""
        return self._cursor

    @property
    def linked(self) -> frozenset[int]:
        """The lines highlighted because they correspond to a line of another view."""
        return self._painter.linked

    @property
    def current_text(self) -> str:
        """The text of the line under the cursor."""
        return self._painter.lines.text(self._cursor) if self._painter.lines.texts else ""

    def go_to(self, line: int) -> None:
        """Put the cursor on a line and show it; numbers outside the text are clamped."""
        line = max(self._painter.lines.first, min(line, self._painter.lines.last))
        if line != self._cursor:
            self._cursor = line
            self.post_message(self.CursorMoved(self, line))
        self._viewport.reveal_row(line - self._painter.lines.first)
        self.refresh()

    # Keys.

    def action_move(self, lines: int) -> None:
        """Move the cursor up or down."""
        self.go_to(self._cursor + lines)

    def action_page(self, pages: int) -> None:
        """Move the cursor by a page."""
        self.go_to(self._cursor + pages * max(1, self.size.height - 1))

    def action_first(self) -> None:
        """Go to the first line."""
        self.go_to(self._painter.lines.first)

    def action_last(self) -> None:
        """Go to the last line."""
        self.go_to(self._painter.lines.last)

    def action_sideways(self, columns: int) -> None:
        """Scroll to the side."""
        self._viewport.scroll(x=self.scroll_offset.x + columns)

    def action_hit(self, step: int) -> None:
        """Go to the next or the previous match."""
        self.finder.hit(step)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Whether an action is available: without a search, the keys of matches are left to the app."""
        return self.finder.is_searching if action == "hit" else super().check_action(action, parameters)

    def on_click(self, event: events.Click) -> None:
        """Put the cursor at the mouse position."""
        offset = event.get_content_offset(self)
        if offset is not None and self._painter.lines.texts:
            self.go_to(self._painter.lines.first + self.scroll_offset.y + offset.y)

    def on_resize(self) -> None:
        """Keep the cursor on the screen; a view in a hidden tab has no size until it is shown."""
        self._viewport.reveal_row(self._cursor - self._painter.lines.first)

    # Drawing.

    def render_line(self, y: int) -> Strip:
        """One row of the screen."""
        index, width = self.scroll_offset.y + y, self.size.width
        base = self.rich_style
        if index >= self.line_count:
            text = self.empty if not self.line_count and y == 0 else ""
            style = self.get_component_rich_style("code--empty")
            return Strip([Segment(text, style)]).crop_extend(0, width, base)
        line = self._painter.lines.first + index
        is_cursor = line == self._cursor
        gutter = self._painter.gutter(line, base)
        background = self._painter.background(line, base, is_cursor=is_cursor)
        left = self.scroll_offset.x
        right = left + max(0, width - gutter.cell_length)
        strip = (
            self._painter.strip(line, background, is_cursor=is_cursor)
            .crop_extend(left, right, background)
            .apply_offsets(left, index)
        )
        return Strip.join([gutter, strip]).crop(0, width)

    def notify_style_update(self) -> None:
        """Called by Textual when the theme or the focus changed the appearance."""
        self._painter.forget()
        super().notify_style_update()

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The text selected with the mouse, without numbers and marks."""
        return selection.extract("\n".join(self._painter.lines.texts)), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        """Called by Textual when the selection changes."""
        self._redraw()

    # Internal.

    def _resize(self) -> None:
        self._painter.forget()
        self.virtual_size = Size(self._painter.gutter_columns + self._painter.lines.columns, self.line_count)

    def _redraw(self) -> None:
        self._painter.forget()
        self.refresh()
