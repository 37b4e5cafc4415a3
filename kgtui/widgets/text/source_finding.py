"""Searches the source, and replaces matches."""

from __future__ import annotations

from textual.widgets import TextArea
from textual.widgets.text_area import Selection

from kgtui.highlighting.searching import occurrences


class SourceFinder:
    """The finder of a text area: matches are selected, and can be replaced by edits that undo reverts."""

    def __init__(self, area: TextArea) -> None:
        self._area = area
        self._sought = ""

    def search(self, text: str) -> int:
        """Select the first occurrence at or after the cursor, and return the number of matches.
        The search is case-sensitive only if `text` has capital letters.  The empty text ends the search.
        """
        self._sought = text
        hits = self._hits()
        start = min(self._area.selection)
        self._select(next((hit for hit in hits if hit >= start), hits[0]) if hits else None)
        return len(hits)

    def hit(self, step: int) -> None:
        """Select the next match, or for -1 the previous one, cyclically."""
        hits = self._hits()
        start = min(self._area.selection)
        if not hits:
            return
        if step > 0:
            self._select(next((hit for hit in hits if hit > start), hits[0]))
        else:
            self._select(next((hit for hit in reversed(hits) if hit < start), hits[-1]))

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
