"""A plot, drawn for the room that it has."""

from __future__ import annotations

from typing import Protocol

from textual.content import Content

from kgtui.state.format.lines import Line
from kgtui.widgets.text.toned import content_of
from kgtui.widgets.text.tones import Toned


class Picture(Protocol):
    """Content of a plot; pictures with the same content are equal."""

    def lines(self, *, width: int, height: int) -> tuple[Line, ...]:
        """The plot in a room of this size, in cells."""


class PlotView(Toned):
    """Draws the newest picture at its own size."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._picture: Picture | None = None

    def show(self, picture: Picture) -> None:
        """Draw this instead."""
        if picture != self._picture:
            self._picture = picture
            self.refresh()

    @property
    def text(self) -> str:
        """Drawn text, without its colours."""
        return self.render().plain

    def render(self) -> Content:
        """The plot at this size."""
        if self._picture is None:
            return Content("")
        lines = self._picture.lines(width=self.content_size.width, height=self.content_size.height)
        return Content("\n").join(content_of(self, one) for one in lines)
