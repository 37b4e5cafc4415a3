"""A screen whose styles are worked out once: as it is put together, and again when what they depend on has changed.

Textual works all of them out a second time when the screen comes to the front, and a third time once it knows its
size, both in one turn of the loop: longer than a key may wait.  Nothing here draws.
"""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.events import ScreenResume
from textual.screen import Screen

from kgtui.widgets.text.tones import TONE_CLASSES


class StyledScreen(Screen[None]):
    """Takes the classes of its size before there is anything in it, and has the tones for all that is."""

    COMPONENT_CLASSES: ClassVar[set[str]] = set(TONE_CLASSES)

    _styled_for: tuple[frozenset[str], frozenset[str]] | None = None

    def on_compose(self) -> None:
        """Set the size classes before the content is composed, which is styled as it comes."""
        self._styled_for = self._surroundings
        width, height = self.app.size
        classes = (
            *_classes_of(width, self.HORIZONTAL_BREAKPOINTS or []),
            *_classes_of(height, self.VERTICAL_BREAKPOINTS or []),
        )
        self.add_class(*classes)

    @on(ScreenResume)
    def _resumed(self, event: ScreenResume) -> None:
        """Style again: colours or signs may have changed, and Textual notifies only the screens in its stack."""
        event.refresh_styles = self._styled_for != self._surroundings
        self._styled_for = self._surroundings

    @property
    def _surroundings(self) -> tuple[frozenset[str], frozenset[str]]:
        """Classes of the application that style sheets can select."""
        return self.app.classes, self.app.pseudo_classes


def _classes_of(cells: int, breakpoints: list[tuple[int, str]]) -> tuple[str, ...]:
    """The class of the last breakpoint that so many cells reach."""
    reached = [breakpoint for breakpoint in breakpoints if cells >= breakpoint[0]]
    return (max(reached)[1],) if reached else ()
