"""A screen whose styles are computed once while it is composed, and again only when their inputs have changed.
Textual computes them a second time when the screen is shown, and a third time once it knows its size, both in one
iteration of the event loop, which delays keys.  Nothing here draws.
"""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.events import ScreenResume
from textual.screen import Screen

from kgtui.widgets.text.tones import TONE_CLASSES


class StyledScreen(Screen[None]):
    """Sets the classes of its size before it is composed, and has the colour variables of its content."""

    COMPONENT_CLASSES: ClassVar[set[str]] = set(TONE_CLASSES)

    _styled_for: tuple[frozenset[str], frozenset[str]] | None = None

    def on_compose(self) -> None:
        """Set the size classes before the content is composed, which is styled while it is composed."""
        self._styled_for = self._surroundings
        width, height = self.app.size
        classes = (
            *_classes_of(width, self.HORIZONTAL_BREAKPOINTS or []),
            *_classes_of(height, self.VERTICAL_BREAKPOINTS or []),
        )
        self.add_class(*classes)

    @on(ScreenResume)
    def _resumed(self, event: ScreenResume) -> None:
        """Recompute styles: colours or glyphs may have changed, and Textual notifies only the screens in its stack."""
        event.refresh_styles = self._styled_for != self._surroundings
        self._styled_for = self._surroundings

    @property
    def _surroundings(self) -> tuple[frozenset[str], frozenset[str]]:
        """Classes of the application that style sheets can select."""
        return self.app.classes, self.app.pseudo_classes


def _classes_of(cells: int, breakpoints: list[tuple[int, str]]) -> tuple[str, ...]:
    """The class of the largest breakpoint not above this number of cells."""
    reached = [breakpoint for breakpoint in breakpoints if cells >= breakpoint[0]]
    return (max(reached)[1],) if reached else ()
