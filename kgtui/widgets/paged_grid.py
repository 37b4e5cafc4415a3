"""A table that shows the window of a longer list: it asks for more near its ends, and stays in place when it comes."""

from __future__ import annotations

from textual.message import Message

from kgtui.state.lines import Row
from kgtui.widgets.toned import Grid

_NEAR = 20


class PagedGrid(Grid):
    """Asks for more whenever the cursor, or what is seen, comes near an end of the rows that it has."""

    _settling = False

    class EndNear(Message):
        """The cursor, or what is seen, is near an end of the rows; `below` says which."""

        def __init__(self, *, below: bool) -> None:
            super().__init__()
            self.below = below

    def show(self, rows: tuple[Row, ...]) -> None:
        """Show these rows instead; the row under the cursor, or the one in its place, stays where it is seen."""
        if rows == self.shown:
            return
        row, place, current = self.cursor_row, self.cursor_row - self.scroll_offset.y, self.current
        self._settling = True  # a table that is filled anew stands at its top for a moment
        super().show(rows)
        if current is not None and current != self.current:
            self.move_cursor(row=min(row, len(rows) - 1))
        # Only after the refresh does the table know how high it is.
        self.call_after_refresh(self._settle, place if current is not None else None)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """The wheel scrolls without moving the cursor."""
        super().watch_scroll_y(old_value, new_value)
        if self.shown and not self._settling:
            self._ask(first=round(new_value), last=round(new_value) + self.size.height)

    def on_data_table_row_highlighted(self) -> None:
        """The cursor has moved."""
        self._ask(first=self.cursor_row, last=self.cursor_row)

    def _settle(self, place: int | None) -> None:
        if place is not None and self.cursor_row - self.scroll_offset.y != place:
            self.scroll_to(y=max(0, self.cursor_row - place), animate=False, immediate=True)
        self._settling = False

    def _ask(self, *, first: int, last: int) -> None:
        if last >= self.row_count - _NEAR:
            self.post_message(self.EndNear(below=True))
        if first < _NEAR:
            self.post_message(self.EndNear(below=False))
