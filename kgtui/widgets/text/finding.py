"""Search in a code view: its matches are highlighted, and the cursor moves between them."""

from __future__ import annotations

from collections.abc import Callable

from rich.cells import cell_len

from kgtui.widgets.text.code_lines import Hit
from kgtui.widgets.text.line_painter import LinePainter
from kgtui.widgets.text.viewport import Viewport


class CodeFinder:
    """The finder of a code view; `cursor` is its line, `go_to` moves it, `redraw` draws all lines again."""

    def __init__(
        self,
        painter: LinePainter,
        viewport: Viewport,
        *,
        cursor: Callable[[], int],
        go_to: Callable[[int], None],
        redraw: Callable[[], None],
    ) -> None:
        self._painter = painter
        self._viewport = viewport
        self._cursor = cursor
        self._go_to = go_to
        self._redraw = redraw

    @property
    def is_searching(self) -> bool:
        """Whether a search is active."""
        return bool(self._painter.hits.sought)

    def search(self, text: str) -> int:
        """Highlight `text` everywhere, go to the first match from the cursor on, and return the number of matches.
        The search is case-sensitive only if `text` has capital letters.  The empty text ends the search.
        """
        self._painter.hits.seek(self._painter.lines, text)
        self._redraw()
        self._show(self._painter.hits.from_line(self._cursor()))
        return len(self._painter.hits)

    def hit(self, step: int) -> bool:
        """Go to the next match, or for -1 to the previous one, cyclically; False if there is none."""
        found = self._painter.hits.next(self._cursor(), step)
        self._show(found)
        return found is not None

    def _show(self, hit: Hit | None) -> None:
        if hit is None:
            return
        self._painter.hits.here = hit
        self._go_to(hit[0])
        column = cell_len(self._painter.lines.text(hit[0])[: hit[1]])
        columns = len(self._painter.hits.sought)
        self._viewport.reveal_columns(column, columns, gutter_columns=self._painter.gutter_columns)
        self._redraw()
