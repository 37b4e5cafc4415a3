"""Lines and tables that draw spans: each tone is a component class of the style sheet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.content import Content
from textual.widget import Widget
from textual.widgets import DataTable, Static

from kgtui.highlighting.cleaning import harmless, harmless_lines
from kgtui.state.format.lines import Column, Line, Placed, Row, Span, Tone, hung, laid_out
from kgtui.widgets.text.tones import Toned

_CUT, _ASCII_CUT = "…", "~"  # end of a truncated text


def content_of(widget: Widget, *lines: Line) -> Content:
    """The lines in the colours of `widget`'s tones; control characters are removed."""
    # Once per tone, since style sheets are too slow for each span of a long page.
    tones = {span.tone for line in lines for span in line}
    styles = {tone: widget.get_visual_style(f"tone--{tone}", partial=True) for tone in tones}
    drawn = (Content.assemble(*((harmless_lines(span.text), styles[span.tone]) for span in line)) for line in lines)
    return Content("\n").join(drawn)


def shortened(widget: Widget, line: Line, *, cells: int) -> Content:
    """The line on one row, cut with an ellipsis if it is wider than `cells`."""
    content = content_of(widget, tuple(span._replace(text=span.text.replace("\n", " ")) for span in line))
    if content.cell_length <= cells or not widget.app.has_class("-ascii"):
        return content.truncate(cells, ellipsis=True)
    return content.truncate(max(0, cells - len(_ASCII_CUT))) + Content(_ASCII_CUT[:cells])


class Lines(Static, Toned):
    """Lines of toned text, wrapped to the width, with an `indent` if given."""

    def __init__(self, *, id: str | None = None, classes: str | None = None, indent: int = 0) -> None:
        super().__init__("", id=id, classes=classes, markup=False)
        self._indent = indent
        self._lines: tuple[Line, ...] = ()

    @property
    def lines(self) -> tuple[Line, ...]:
        """The shown lines."""
        return self._lines

    def show(self, lines: tuple[Line, ...]) -> None:
        """Draw these lines instead; no effect if they are equal."""
        if lines != self._lines:
            self._lines = lines
            self._fill()

    def on_resize(self) -> None:
        """Wrap for the new width."""
        if self._indent:
            self._fill()

    def notify_style_update(self) -> None:
        """Draw again in the colours of the new theme."""
        super().notify_style_update()
        if self._lines:
            self._fill()

    def _fill(self) -> None:
        lines, width = self._lines, self.content_size.width
        if self._indent and width:
            lines = tuple(piece for one in lines for piece in hung(one, width=width, indent=self._indent))
        self.update(content_of(self, *lines))


@dataclass(frozen=True)
class Cell:
    """A cell of a table, cut to its width: Rich would wrap and measure a text for each drawing.

    It has no width: the columns of a `Grid` do.
    """

    text: str
    style: Style

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterable[Segment]:
        """Called by Rich for each drawing."""
        yield Segment(self.text, self.style)


@dataclass(frozen=True, kw_only=True)
class _Look:
    """Style of cells: the ellipsis, and the style of each tone."""

    cut: str
    styles: Mapping[Tone, Style]


class Grid(DataTable[Cell], Toned):
    """A table of toned rows, updated incrementally; its columns are laid out for the current width."""

    def __init__(self, columns: tuple[Column, ...], *, header: bool = True, id: str | None = None) -> None:
        super().__init__(cursor_type="row", cell_padding=0, show_header=header, id=id)
        self._columns = columns
        self._placed: tuple[Placed, ...] = ()
        self._shown: tuple[Row, ...] = ()
        self._look = _Look(cut=_CUT, styles={})
        self._lay_out()

    @property
    def shown(self) -> tuple[Row, ...]:
        """The rows in order."""
        return self._shown

    @property
    def current(self) -> str | None:
        """The key of the row under the cursor."""
        return self._shown[self.cursor_row].key if 0 <= self.cursor_row < len(self._shown) else None

    def show(self, rows: tuple[Row, ...]) -> None:
        """Show these rows instead; the cursor stays on its row while it exists."""
        if rows == self._shown:
            return
        current = self.current
        before, self._shown = self._shown, rows
        self._look = self._look_of(rows)
        common = 0
        while common < min(len(rows), len(before)) and rows[common].key == before[common].key:
            common += 1
        if common < len(before):
            # Removing rows one by one would recompute the layout each time.
            self.clear()
            before, common = (), 0
        for place in range(common):
            if rows[place] != before[place]:
                self._change(rows[place], before[place])
        for row in rows[common:]:
            self.add_row(*(self._cell(row, placed) for placed in self._placed), key=row.key)
        if current is not None and current != self.current:
            self.go_to(current)

    def set_columns(self, columns: tuple[Column, ...]) -> None:
        """Use these columns from now on; existing rows are removed until they are shown again."""
        if columns != self._columns:
            self._columns = columns
            self._shown = ()
            self._lay_out()

    def on_resize(self) -> None:
        """Lay out the columns for the new width; a table in a hidden tab has none until it is shown."""
        if self.size.width and laid_out(self._columns, room=self.size.width) != self._placed:
            rows, current, self._shown = self._shown, self.current, ()
            self._lay_out()
            self.show(rows)
            if current is not None:
                self.go_to(current)

    def go_to(self, key: str) -> None:
        """Put the cursor on the row with this key, if it exists."""
        for place, row in enumerate(self._shown):
            if row.key == key:
                self.move_cursor(row=place)
                return

    def notify_style_update(self) -> None:
        """Draw again in the colours of the new theme."""
        super().notify_style_update()
        before, self._look = self._look, self._look_of(self._shown)
        if self._look == before:
            return  # called for example when the focus changes
        for row in self._shown:
            for placed in self._placed:
                self.update_cell(row.key, str(placed.place), self._cell(row, placed))

    def _lay_out(self) -> None:
        """Recreate the columns, without rows; with their preferred widths while the width is unknown."""
        self.clear(columns=True)
        room = self.size.width if self.is_attached else 0  # a scroll bar covers the gap behind the last one
        self._placed = laid_out(self._columns, room=room or sum(column.width for column in self._columns))
        for placed in self._placed:
            label = Text(self._columns[placed.place].label)
            self.add_column(label, width=placed.width, key=str(placed.place))

    def _change(self, row: Row, before: Row) -> None:
        for placed in self._placed:
            if row.stale != before.stale or row.cells[placed.place] != before.cells[placed.place]:
                self.update_cell(row.key, str(placed.place), self._cell(row, placed))

    def _look_of(self, rows: Iterable[Row]) -> _Look:
        """Style of all these rows, computed once, since style sheets are too slow for each cell."""
        styles = {}
        for tone in {_tone_of(row, span) for row in rows for span in row.cells}:
            full = self.get_visual_style(f"tone--{tone}").rich_style
            # Without the background: a cell with a background would interrupt the highlight of the cursor's row.
            styles[tone] = Style(color=full.color, bold=full.bold, italic=full.italic, dim=full.dim)
        return _Look(cut=_ASCII_CUT if self.app.has_class("-ascii") else _CUT, styles=styles)

    def _cell(self, row: Row, placed: Placed) -> Cell:
        span = row.cells[placed.place]
        words, room = harmless(span.text.replace("\n", " ")), placed.width - 1
        if cell_len(words) > room:
            words = set_cell_size(words, max(0, room - 1)) + self._look.cut
        return Cell(words, self._look.styles[_tone_of(row, span)])


def _tone_of(row: Row, span: Span) -> Tone:
    return Tone.STALE if row.stale else span.tone
