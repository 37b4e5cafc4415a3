"""A table of a window of a longer list: it requests more rows near its ends, and keeps its position when they arrive.
It draws only visible lines, so added or removed rows are cheap: a DataTable measures and stores each cell, so that
another page would delay keys.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import ClassVar

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from kgtui.highlighting.cleaning import harmless
from kgtui.state.format.lines import Column, Row, Tone
from kgtui.widgets.text.tones import TONE_CLASSES, Toned

_NEAR = 20
_HEADER = "paged--header"
_CURSOR = "paged--cursor"


class PagedGrid(ScrollView, Toned, can_focus=True):
    """Rows under a fixed header; requests more when the cursor or the view is near an end."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {_HEADER, _CURSOR}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "cursor_up", show=False),
        Binding("down", "cursor_down", show=False),
        Binding("pageup", "page_up", show=False),
        Binding("pagedown", "page_down", show=False),
        Binding("home", "scroll_home", show=False),
        Binding("end", "scroll_end", show=False),
        Binding("enter", "choose", show=False),
    ]

    class EndNear(Message):
        """Message: the cursor or the view is near an end of the rows; `below` says which."""

        def __init__(self, *, below: bool) -> None:
            super().__init__()
            self.below = below

    class Moved(Message):
        """Message: the cursor moved to another row."""

    class Chosen(Message):
        """Message: enter, or a click on the row under the cursor."""

    class HeaderChosen(Message):
        """Message: a click on the name of a column; `column` is its index."""

        def __init__(self, column: int) -> None:
            super().__init__()
            self.column = column

    def __init__(self, columns: tuple[Column, ...], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._columns = columns
        self._rows: tuple[Row, ...] = ()
        self._cursor = 0
        self._styles: dict[str, Style] = {}

    @property
    def shown(self) -> tuple[Row, ...]:
        """The rows in order."""
        return self._rows

    @property
    def cursor_row(self) -> int:
        """The index of the row under the cursor."""
        return self._cursor

    @property
    def current(self) -> str | None:
        """The key of the row under the cursor."""
        return self._rows[self._cursor].key if self._cursor < len(self._rows) else None

    @property
    def seen(self) -> tuple[int, int]:
        """The indices of the first and the last visible row."""
        top = self.scroll_offset.y
        return top, top + max(0, self.size.height - 2)

    def show(self, rows: tuple[Row, ...], columns: tuple[Column, ...]) -> None:
        """Show these rows instead; the row under the cursor, or its replacement, keeps its position on the screen.
        If the cursor is out of view, the first visible row keeps its position, and a cursor on a removed row moves to
        the nearest one.
        """
        if (rows, columns) == (self._rows, self._columns):
            return
        (first, last), current, before = self.seen, self.current, self._cursor
        held = before if first <= before <= last else first
        held_key = self._rows[held].key if held < len(self._rows) else None
        places = {row.key: place for place, row in enumerate(rows)}
        now = places.get(held_key or "", min(held, len(rows) - 1))
        self._rows, self._columns = rows, columns
        self._cursor = places.get(current or "", max(0, min(before + now - held, len(rows) - 1)))
        self.virtual_size = Size(sum(column.width for column in columns) + 1, len(rows) + 1)
        self.scroll_to(y=max(0, now - (held - first)), animate=False, immediate=True, force=True)
        self.refresh()
        if self.current != current:
            self.post_message(self.Moved())

    def go_to(self, row: int) -> None:
        """Put the cursor on this row, or the last one before it, and scroll it into view."""
        before, self._cursor = self._cursor, max(0, min(row, len(self._rows) - 1))
        room = max(1, self.size.height - 1)
        top = min(self._cursor, max(self.scroll_offset.y, self._cursor - room + 1))
        self.scroll_to(y=top, animate=False, immediate=True, force=True)
        self.refresh()
        if self._cursor != before:
            self.post_message(self.Moved())
        self._ask(first=self._cursor, last=self._cursor)

    def render_line(self, y: int) -> Strip:
        """Draw the header, or a row."""
        if y == 0:
            header = self._style(_HEADER)
            cells = [Segment(_fitted(column.label, column.width, cut=""), header) for column in self._columns]
            return self._whole([Segment(" ", header), *cells], header)
        place = y - 1 + self.scroll_offset.y
        if place >= len(self._rows):
            return Strip.blank(self.size.width, self.rich_style)
        row, ground = self._rows[place], self._style(_CURSOR) if place == self._cursor else self.rich_style
        cut = "~" if self.app.has_class("-ascii") else "…"
        segments = [Segment(" ", ground)]
        for span, column in zip(row.cells, self._columns, strict=True):
            words, tone = harmless(span.text.replace("\n", " ")), Tone.STALE if row.stale else span.tone
            segments.append(Segment(_fitted(words, column.width, cut=cut), ground + self._tone(tone)))
        return self._whole(segments, ground)

    def notify_style_update(self) -> None:
        """Draw again in the colours of the new theme, or with the cursor style for the new focus."""
        self._styles.clear()
        super().notify_style_update()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """The wheel scrolls without moving the cursor."""
        super().watch_scroll_y(old_value, new_value)
        self._ask(first=round(new_value), last=round(new_value) + self.size.height)

    def on_click(self, event: events.Click) -> None:
        """Move the cursor; on the row of the cursor, choose the row; on the header, choose the column."""
        place = event.y - 1 + self.scroll_offset.y
        if event.y == 0:
            ends = accumulate((column.width for column in self._columns), initial=1)
            column = bisect_right([*ends], event.x + self.scroll_offset.x) - 1
            if 0 <= column < len(self._columns):
                self.post_message(self.HeaderChosen(column))
        elif place < len(self._rows):
            if place == self._cursor:
                self.action_choose()
            self.go_to(place)

    def action_cursor_up(self) -> None:
        """Move one row up."""
        self.go_to(self._cursor - 1)

    def action_cursor_down(self) -> None:
        """Move one row down."""
        self.go_to(self._cursor + 1)

    def action_page_up(self) -> None:
        """Move one page up."""
        self.go_to(self._cursor - max(1, self.size.height - 2))

    def action_page_down(self) -> None:
        """Move one page down."""
        self.go_to(self._cursor + max(1, self.size.height - 2))

    def action_scroll_home(self) -> None:
        """Go to the first loaded row."""
        self.go_to(0)

    def action_scroll_end(self) -> None:
        """Go to the last loaded row."""
        self.go_to(len(self._rows) - 1)

    def action_choose(self) -> None:
        """Report that the row was chosen."""
        if self.current is not None:
            self.post_message(self.Chosen())

    def _whole(self, segments: list[Segment], ground: Style) -> Strip:
        left = self.scroll_offset.x
        return Strip(segments).crop_extend(left, left + self.size.width, ground)

    def _tone(self, tone: Tone) -> Style:
        full = self._style(f"tone--{tone}")
        return Style(
            color=full.color if tone is not Tone.PLAIN else None, bold=full.bold, italic=full.italic, dim=full.dim
        )

    def _style(self, name: str) -> Style:
        # Cached, since style sheets are too slow for each cell of each line.
        if name not in self._styles:
            is_tone = name in TONE_CLASSES
            # A visual style has no reverse, which is the only way to show the cursor without colours.
            self._styles[name] = (
                self.get_visual_style(name).rich_style if is_tone else self.get_component_rich_style(name)
            )
        return self._styles[name]

    def _ask(self, *, first: int, last: int) -> None:
        if self._rows and last >= len(self._rows) - _NEAR:
            self.post_message(self.EndNear(below=True))
        if self._rows and first < _NEAR:
            self.post_message(self.EndNear(below=False))


def _fitted(text: str, width: int, *, cut: str) -> str:
    """The text in exactly this many cells, including a gap at the end."""
    if cell_len(text) < width:
        return set_cell_size(text, width)
    return set_cell_size(text, width - 1 - len(cut)) + cut + " "
