"""The curves of models as a character plot with legend."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kgtui.generation.comparing.curve_axes import plotted, quantity_axis, spent_axis
from kgtui.generation.comparing.curves import Curve, Quantity, Spent
from kgtui.state.format.lines import Span, Tone, line, muted
from kgtui.state.format.plot import Point, Series, draw

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kgtui.state.format.glyphs import Glyphs
    from kgtui.state.format.lines import Line

_TONES = (Tone.GOOD, Tone.LINK, Tone.WARN, Tone.BUSY, Tone.PLAIN)
_ROWS_A_TICK = 3
_COLUMNS_A_TICK = 12


@dataclass(frozen=True, kw_only=True)
class CurvesPicture:
    """Curves of one quantity against spending."""

    curves: tuple[Curve, ...]
    quantity: Quantity
    spent: Spent
    glyphs: Glyphs

    @property
    def legend(self) -> Line:
        """Axes of the plot, then each model with its marker, or the reason why it has no curve."""
        against = muted(f" against {self.spent} of each operator")
        models = (
            Span(f"  {self._marker(place)} {curve.model}", self._tone(place))
            if curve.points
            else muted(f"  {curve.model}: {curve.why}")
            for place, curve in enumerate(self.curves)
        )
        return (Span(str(self.quantity), Tone.STRONG), against, *models)

    def lines(self, *, width: int, height: int) -> tuple[Line, ...]:
        """The plot in this size; a sentence if there is nothing to plot or no room for it."""
        drawn = [curve for curve in self.curves if curve.points]
        if not drawn:
            return (line(muted(f"nothing to plot against {self.spent}; m and x show other curves")),)
        x = spent_axis(drawn, self.spent, most=max(2, width // _COLUMNS_A_TICK))
        y = quantity_axis(drawn, self.quantity, most=max(3, height // _ROWS_A_TICK))
        series = tuple(self._series())
        return draw(series, x, y, width=width, height=height, glyphs=self.glyphs) or (
            line(muted("too small for a plot; metrics and cost have the numbers")),
        )

    def _series(self) -> Iterator[Series]:
        for place, curve in enumerate(self.curves):
            points = tuple(Point(key="", group="", x=x, y=y, low=y, high=y) for x, y in plotted(curve, self.spent))
            is_stepped = self.spent is Spent.COST
            marker, tone = self._marker(place), self._tone(place)
            yield Series(name=curve.model, points=points, marker=marker, tone=tone, is_stepped=is_stepped)

    def _marker(self, place: int) -> str:
        return self.glyphs.markers[place % len(self.glyphs.markers)]

    @staticmethod
    def _tone(place: int) -> Tone:
        return _TONES[place % len(_TONES)]
