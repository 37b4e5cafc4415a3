"""Scrolls a view of lines without animation, and no more than needed."""

from __future__ import annotations

from textual.scroll_view import ScrollView


class Viewport:
    """Visible part of a view's lines; rows and columns are counted from 0."""

    def __init__(self, view: ScrollView) -> None:
        self._view = view

    def scroll(self, *, x: float | None = None, y: float | None = None) -> None:
        """Scroll immediately, even before the scroll bar for the new text exists."""
        self._view.scroll_to(x, y, animate=False, force=True)

    def reveal_row(self, row: int) -> None:
        """Scroll minimally to a nearby row, and centre a distant one."""
        if not self._view.size:
            return
        top, height = self._view.scroll_offset.y, self._view.size.height
        if row < top - 1 or row > top + height:
            self.scroll(y=row - height // 2)
        elif row < top:
            self.scroll(y=row)
        elif row >= top + height:
            self.scroll(y=row - height + 1)

    def reveal_columns(self, column: int, columns: int, *, gutter_columns: int) -> None:
        """Scroll to the side if `columns` from `column` on are not all visible beside the gutter."""
        left, width = self._view.scroll_offset.x, self._view.size.width - gutter_columns
        if self._view.size and not left <= column <= left + width - columns:
            self.scroll(x=max(0, column - width // 2))
