"""The plot of the bench cases, drawn for the room that it has."""

from __future__ import annotations

from dataclasses import dataclass

from textual.content import Content

from engine.model import Problem
from kgtui.state.bench.plot import Series
from kgtui.state.bench.sizes import Lens, plot_lines
from kgtui.state.format.glyphs import UNICODE, Glyphs
from kgtui.widgets.text.toned import content_of
from kgtui.widgets.text.tones import Toned


@dataclass(frozen=True, kw_only=True)
class Picture:
    """What is to be plotted; `marked` is the case to point out."""

    problem: Problem
    series: tuple[Series, ...]
    lens: Lens
    marked: str | None = None
    glyphs: Glyphs = UNICODE


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
        """What is drawn, without its colours."""
        return self.render().plain

    def render(self) -> Content:
        """The plot at this size."""
        picture = self._picture
        if picture is None:
            return Content("")
        lines = plot_lines(
            picture.problem,
            picture.series,
            picture.lens,
            width=self.content_size.width,
            height=self.content_size.height,
            glyphs=picture.glyphs,
            marked=picture.marked,
        )
        return Content("\n").join(content_of(self, one) for one in lines)
