"""Searches the source, and replaces matches."""

from __future__ import annotations

from textual.widgets import TextArea
from textual.widgets.text_area import Selection

from kgtui.highlighting.searching import occurrences


class SourceFinder:
    """The finder of a text area: matches are selected, and can be replaced by edits that undo reverts.

    Typing replaces a selection, so while the text is edited the last match is released: the cursor is at its beginning.
    """

    def __init__(self, area: TextArea) -> None:
        self._area = area
        self._sought = ""

    @property
    def sought(self) -> str:
        """The text of the last search; "" without one."""
        return self._sought

    @property
    def released(self) -> tuple[int, int] | None:
        """Row and column of the match whose beginning is under the cursor; None without one or with a selection."""
        row, column = self._area.cursor_location
        if self._area.read_only or not self._area.selection.is_empty:
            return None
        places = occurrences(self._sought, [self._area.document.get_line(row)], first=row)
        return (row, column) if (row, column) in places else None

    def release(self) -> None:
        """While the text is edited, put the cursor at the beginning of a selected match and select nothing."""
        start, end = sorted(self._area.selection)
        is_match = start in self._hits() and end == (start[0], start[1] + len(self._sought))
        if is_match and not self._area.read_only:
            self._area.move_cursor(start)

    def search(self, text: str) -> int:
        """Select the first occurrence at or after the cursor, and return the number of matches.
        The search is case-sensitive only if `text` has capital letters.  The empty text ends the search.
        """
        if not text:
            self.release()
        self._sought = text
        hits = self._hits()
        start = min(self._area.selection)
        self._select(next((hit for hit in hits if hit >= start), hits[0]) if hits else None)
        return len(hits)

    def hit(self, step: int) -> bool:
        """Select the next match, or for -1 the previous one, cyclically; False if there is none."""
        hits = self._hits()
        start = min(self._area.selection)
        if not hits:
            return False
        if step > 0:
            self._select(next((hit for hit in hits if hit > start), hits[0]))
        else:
            self._select(next((hit for hit in reversed(hits) if hit < start), hits[-1]))
        return True

    def select_next(self, text: str) -> int:
        """Select the first occurrence at or after the cursor, and return the number of matches from there on."""
        self._sought = text
        start = max(self._area.selection)
        left = [hit for hit in self._hits() if hit >= start]
        self._select(left[0] if left else None)
        return len(left)

    def replace_selection(self, text: str) -> None:
        """Replace the selection by `text`, and put the cursor after it."""
        self._area.replace(text, *sorted(self._area.selection), maintain_selection_offset=False)

    def replace_hits(self, old: str, new: str) -> int:
        """Replace the selected and every later match in one step that one undo reverts; returns their number."""
        start = min(self._area.selection)
        hits = [hit for hit in occurrences(old, self._area.document.lines) if hit >= start]
        if not hits:
            return 0
        lines = list(self._area.document.lines)
        for row, column in reversed(hits):
            lines[row] = f"{lines[row][:column]}{new}{lines[row][column + len(old) :]}"
        begin = (hits[0][0], 0)
        self._area.replace(
            "\n".join(lines[begin[0] :]), begin, self._area.document.end, maintain_selection_offset=False
        )
        return len(hits)

    def _hits(self) -> list[tuple[int, int]]:
        return occurrences(self._sought, self._area.document.lines)

    def _select(self, hit: tuple[int, int] | None) -> None:
        if hit is None:
            return
        row, column = hit
        end = column + len(self._sought)
        self._area.selection = Selection((row, column), (row, end))
        # An earlier match far to the right would scroll the beginnings of the lines out of view.
        if end < self._area.scrollable_content_region.width - self._area.gutter_width:
            self._area.scroll_to(x=0, animate=False)
