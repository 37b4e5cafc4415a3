"""Texts side by side that scroll together, or two of them in one column; differences are marked by sign and colour.
A row is prepared when it is drawn, so that long files cost no more than short ones.  Rows are made by
`kgtui.state.compare.alignment`; text is never interpreted as markup.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style as RichStyle
from rich.text import Text
from textual import events
from textual.binding import Binding
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from kgtui.highlighting.inks import ThemedInks
from kgtui.highlighting.reading import Colours
from kgtui.state.compare.alignment import Alignment, Cell, Change

_SIDE_STEP = 8
_CLASSES = {Change.CHANGED: "sides--changed", Change.ADDED: "sides--added", Change.REMOVED: "sides--removed"}


class SideBySide(ScrollView, can_focus=True):
    """Columns of source with numbers, signs and a cursor row; rows are counted from zero."""

    COMPONENT_CLASSES = {  # noqa: RUF012  # Textual's own form
        "sides--added",
        "sides--changed",
        "sides--cursor",
        "sides--gap",
        "sides--gutter",
        "sides--removed",
        "sides--words",
    }
    BINDINGS = [  # noqa: RUF012  # Textual's own form
        Binding("k,up", "move(-1)", "Up", id="sides.up", show=False),
        Binding("j,down", "move(1)", "Down", id="sides.down", show=False),
        Binding("h,left", "sideways(-1)", "Left", id="sides.left", show=False),
        Binding("l,right", "sideways(1)", "Right", id="sides.right", show=False),
        Binding("pageup", "page(-1)", "Page up", id="sides.page-up", show=False),
        Binding("pagedown", "page(1)", "Page down", id="sides.page-down", show=False),
        Binding("g,home", "first", "First row", id="sides.first", show=False),
        Binding("G,end", "last", "Last row", id="sides.last", show=False),
    ]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._alignment = Alignment()
        self._columns: tuple[int, ...] = ()
        self._colours: tuple[Colours, ...] = ()
        self._cursor = 0
        self._rule = "|"
        self._inks = ThemedInks()

    @property
    def cursor_row(self) -> int:
        """The row under the cursor, from zero."""
        return self._cursor

    @property
    def alignment(self) -> Alignment:
        """The shown alignment."""
        return self._alignment

    @property
    def columns(self) -> tuple[int, ...]:
        """The shown cells of a row, in order."""
        return self._columns

    def show(
        self, alignment: Alignment, *, columns: Sequence[int], colours: Sequence[Colours], rule: str = "|"
    ) -> None:
        """Show these cells of every row, with `rule` between them.

        `colours` are those of the text in each of these columns; for one merged column, those of the removed and of the
        added text.
        """
        self._alignment, self._columns, self._colours = alignment, tuple(columns), tuple(colours)
        self._rule = rule
        self._cursor = min(self._cursor, max(0, len(alignment.rows) - 1))
        self._resize()
        self.refresh()

    def go_to(self, row: int) -> None:
        """Put the cursor on a row and show it; numbers beyond the ends are clamped."""
        self._cursor = max(0, min(row, len(self._alignment.rows) - 1))
        height, top = self._room.height, self.scroll_offset.y
        if height and not top <= self._cursor < top + height:
            near = top - 1 <= self._cursor <= top + height
            place = self._cursor - (0 if self._cursor < top else height - 1) if near else self._cursor - height // 3
            self.scroll_to(y=max(0, place), animate=False, force=True)
        self.refresh()

    def next_difference(self, step: int) -> bool:
        """Go to the start of the next or the previous difference; False if there is none."""
        beyond = [start for start in self._alignment.starts if (start - self._cursor) * step > 0]
        if beyond:
            self.go_to(min(beyond) if step > 0 else max(beyond))
        return bool(beyond)

    def action_move(self, rows: int) -> None:
        """Move the cursor up or down."""
        self.go_to(self._cursor + rows)

    def action_page(self, pages: int) -> None:
        """Move the cursor by a page."""
        self.go_to(self._cursor + pages * max(1, self._room.height - 1))

    def action_first(self) -> None:
        """Go to the first row."""
        self.go_to(0)

    def action_last(self) -> None:
        """Go to the last row."""
        self.go_to(len(self._alignment.rows) - 1)

    def action_sideways(self, steps: int) -> None:
        """Scroll the text of all columns to the side."""
        self.scroll_to(x=self.scroll_offset.x + steps * _SIDE_STEP, animate=False, force=True)

    def on_click(self, event: events.Click) -> None:
        """Put the cursor at the mouse position."""
        offset = event.get_content_offset(self)
        if offset is not None:
            self.go_to(self.scroll_offset.y + offset.y)

    def on_resize(self) -> None:
        """Keep the cursor on the screen."""
        self._resize()
        self.go_to(self._cursor)

    def watch_show_horizontal_scrollbar(self) -> None:
        """The bar takes a row: keep the cursor above it."""
        if self.is_mounted:
            self.call_after_refresh(self.on_resize)

    def render_line(self, y: int) -> Strip:
        """One row of the screen."""
        place, width, base = self.scroll_offset.y + y, self._room.width, self.rich_style
        if place >= len(self._alignment.rows) or not self._columns:
            return Strip.blank(width, base)
        cells, widths = self._alignment.rows[place].cells, self._widths
        if place == self._cursor:
            base += self._backdrop("sides--cursor")
        strips = [
            self._cell(cells[column], width=widths[order], order=order, base=base)
            for order, column in enumerate(self._columns)
        ]
        rule = Strip([Segment(self._rule, self.get_component_rich_style("sides--gutter"))])
        joined = [part for strip in strips for part in (rule, strip)][1:]
        return Strip.join(joined).adjust_cell_length(width, base)

    @property
    def _widths(self) -> tuple[int, ...]:
        """The width of each column; the remainder goes to the last one."""
        count = len(self._columns)
        width = self._room.width
        share = width // count
        return (*[share - 1] * (count - 1), width - share * (count - 1))

    @property
    def _room(self) -> Size:
        """Size without the scroll bars."""
        return self.scrollable_content_region.size

    @property
    def _gutter_cells(self) -> int:
        return self._digits + 3

    @property
    def _digits(self) -> int:
        return len(str(self._alignment.lines))

    def _cell(self, cell: Cell, *, width: int, order: int, base: RichStyle) -> Strip:
        gutter, left = self.get_component_rich_style("sides--gutter"), self.scroll_offset.x
        number = "" if cell.number is None else str(cell.number)
        name = _CLASSES.get(cell.change)
        tint = base + self._backdrop(name) if name else base
        sign = base + self.get_component_rich_style(name) if name else base
        head = Strip(
            [
                Segment(f"{number:>{self._digits}}", base + RichStyle(color=gutter.color)),
                Segment(f" {cell.change} ", sign),
            ]
        )
        room = max(0, width - self._gutter_cells)
        if cell.number is None:
            tint = base + self._backdrop("sides--gap")
        text = Text(cell.text, no_wrap=True, end="")  # has no style: without spans it would not be drawn
        self._paint(text, cell, order)
        body = Strip(text.render(self.app.console), cell_len(cell.text)).apply_style(tint)
        return Strip.join([head, body.crop_extend(left, left + room, tint)])

    def _paint(self, text: Text, cell: Cell, order: int) -> None:
        if cell.number is not None:
            inks = self._inks.under(self.app.theme_variables, self.background_colors[1])
            which = order if len(self._columns) > 1 else int(cell.change is not Change.REMOVED)
            for span in self._colours[which](cell.number - 1):
                text.stylize(inks[span.ink], span.start, span.end)
        words = self.get_component_rich_style("sides--words")
        for start, end in cell.spans:
            text.stylize(RichStyle(bold=words.bold, underline=words.underline, reverse=words.reverse), start, end)

    def _backdrop(self, name: str) -> RichStyle:
        style = self.get_component_rich_style(name)
        return RichStyle(bgcolor=style.bgcolor, bold=style.bold, underline=style.underline, reverse=style.reverse)

    def _resize(self) -> None:
        """Set the virtual width for the longest line in the narrowest column, so that scrolling reaches its end."""
        if not self._columns or not self._room.width:
            return
        beyond = max(0, self._alignment.longest - (min(self._widths) - self._gutter_cells))
        self.virtual_size = Size(self._room.width + beyond, len(self._alignment.rows))
