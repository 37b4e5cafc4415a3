"""Message of a terminal that is too small for anything else."""

from __future__ import annotations

from textual.content import Content
from textual.widget import Widget

LEAST_WIDTH = 60
LEAST_HEIGHT = 15


class TooSmall(Widget):
    """Required and actual size of the terminal; the style sheet shows it when needed."""

    def render(self) -> Content:
        """The message in one sentence."""
        width, height = self.app.size
        return Content(f"terminal too small: needs {LEAST_WIDTH}x{LEAST_HEIGHT}, has {width}x{height}")
