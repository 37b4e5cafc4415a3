"""A page of toned lines with a cursor, which scrolls as the cursor moves; independent of its content."""

from __future__ import annotations

from textual.widgets import OptionList
from textual.widgets.option_list import Option

from kgtui.state.format.lines import plain_text
from kgtui.state.workbench.inspect import PageRow
from kgtui.widgets.text.toned import content_of
from kgtui.widgets.text.tones import Toned


class PageView(OptionList, Toned):
    """A page; each line is one option."""

    def __init__(self, *, id: str) -> None:
        self._rows: tuple[PageRow, ...] = ()  # before super().__init__, which draws in the colours of the theme
        super().__init__(id=id, markup=False, compact=True)

    @property
    def rows(self) -> tuple[PageRow, ...]:
        """The shown rows."""
        return self._rows

    @property
    def current(self) -> PageRow | None:
        """The line under the cursor."""
        place = self.highlighted
        return self._rows[place] if place is not None and place < len(self._rows) else None

    def show(self, rows: tuple[PageRow, ...]) -> None:
        """Show these lines instead; cursor and scroll position stay."""
        if rows == self._rows:
            return
        place, scrolled = self.highlighted or 0, self.scroll_offset
        self._rows = rows
        self._fill()
        self.highlighted = min(place, len(rows) - 1) if rows else None
        self.scroll_to(y=scrolled.y, animate=False)

    def go_on(self, step: int) -> bool:
        """Go to the next or the previous line that refers to another source line; False if there is none."""
        here = self.highlighted or 0
        known = self._rows[here].about if here < len(self._rows) else None
        places = range(here + 1, len(self._rows)) if step > 0 else range(here - 1, -1, -1)
        for place in places:
            about = self._rows[place].about
            is_first = place == 0 or self._rows[place - 1].about != about
            if about is not None and is_first and (about != known or step < 0):
                self.highlighted = place
                return True
            if about is None:
                known = None
        return False

    def action_scroll_home(self) -> None:
        """Go to the first line."""
        self.action_first()

    def action_scroll_end(self) -> None:
        """Go to the last line."""
        self.action_last()

    def notify_style_update(self) -> None:
        """Draw again in the colours of the new theme."""
        super().notify_style_update()
        if self._rows and self.is_mounted:
            place = self.highlighted
            self._fill()
            self.highlighted = place

    def text(self) -> str:
        """The line under the cursor as plain text."""
        current = self.current
        return plain_text((current.line,)).strip() if current is not None else ""

    def _fill(self) -> None:
        self.clear_options()
        self.add_options(Option(content_of(self, row.line)) for row in self._rows)
