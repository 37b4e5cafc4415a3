"""A plot, drawn at the size of the widget."""

from __future__ import annotations

from typing import Protocol

from textual.content import Content

from kgtui.state.format.lines import Line
from kgtui.widgets.text.toned import content_of
from kgtui.widgets.text.tones import Toned


class Picture(Protocol):
    """Content of a plot; pictures with the same content are equal."""

    def lines(self, *, width: int, height: int) -> tuple[Line, ...]:
        """The plot in this size, in cells."""


class PlotView(Toned):
    """A widget that draws the newest picture at its size."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._picture: Picture | None = None

    def show(self, picture: Picture) -> None:
        """Draw this picture instead."""
        if picture != self._picture:
            self._picture = picture
            self.refresh()

    @property
    def text(self) -> str:
        """The drawn text, without colours."""
        return self.render().plain

    def render(self) -> Content:
        """The plot at this size."""
        if self._picture is None:
            return Content("")
        lines = self._picture.lines(width=self.content_size.width, height=self.content_size.height)
        return Content("\n").join(content_of(self, one) for one in lines)
