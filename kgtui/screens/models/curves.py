"""The curves tab of the Models screen: the choice of quantity and axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kgtui.generation.comparing.curves import Quantity, Spent
from kgtui.generation.display.curves import CurvesPicture

if TYPE_CHECKING:
    from kgtui.screens.models.compared import ComparedModels
    from kgtui.state.format.glyphs import Glyphs


class CurvesTab:
    """Curves of the Models screen; its keys have no effect while another tab is shown."""

    def __init__(self, *, is_shown: Callable[[], bool], redraw: Callable[[], None]) -> None:
        self._is_shown = is_shown
        self._redraw = redraw
        self._quantity = Quantity.SOLVED
        self._spent = Spent.COST

    def action_quantity(self) -> None:
        """Plot the other quantity."""
        if self._is_shown():
            self._quantity = Quantity.SPEEDUP if self._quantity is Quantity.SOLVED else Quantity.SOLVED
            self._redraw()

    def action_spent(self) -> None:
        """Plot over answers, or over cost."""
        if self._is_shown():
            self._spent = Spent.ANSWERS if self._spent is Spent.COST else Spent.COST
            self._redraw()

    def picture(self, compared: ComparedModels, *, glyphs: Glyphs) -> CurvesPicture:
        """The curves of the models; empty before the comparison is computed."""
        curves = compared.curves.get((self._quantity, self._spent), ())
        return CurvesPicture(curves=curves, quantity=self._quantity, spent=self._spent, glyphs=glyphs)
