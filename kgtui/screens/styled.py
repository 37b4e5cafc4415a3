"""A screen whose styles are worked out once: as it is put together, and again when what they depend on has changed.

Textual works all of them out a second time when the screen comes to the front, and a third time once it is told its
size, both in one turn of the loop: longer than a key may wait.  Nothing here draws.
"""

from __future__ import annotations

from textual import on
from textual.events import Resize, ScreenResume
from textual.geometry import Size
from textual.screen import Screen


class StyledScreen(Screen[None]):
    """Takes the classes of its size before there is anything in it."""

    _styled_for: tuple[frozenset[str], frozenset[str]] | None = None

    def on_compose(self) -> None:
        """What will be in it is styled as it comes, so the classes must be those of the size by then."""
        self._styled_for = self._surroundings
        self._take_classes_of(self.app.size)

    @on(Resize)
    def _resized(self, event: Resize) -> None:
        """Before Textual lays it out for another size: it would do so by the classes of the old one, and show that."""
        self._take_classes_of(event.size)

    @on(ScreenResume)
    def _resumed(self, event: ScreenResume) -> None:
        """Colours or signs may have been changed meanwhile; Textual tells only the screens that lie in its stack."""
        event.refresh_styles = self._styled_for != self._surroundings
        self._styled_for = self._surroundings

    @property
    def _surroundings(self) -> tuple[frozenset[str], frozenset[str]]:
        """All that style sheets can ask about the application."""
        return self.app.classes, self.app.pseudo_classes

    def _take_classes_of(self, size: Size) -> None:
        across = _class_by_breakpoint(size.width, self.HORIZONTAL_BREAKPOINTS or [])
        down = _class_by_breakpoint(size.height, self.VERTICAL_BREAKPOINTS or [])
        self.update_classes(across | down, animate=False)


def _class_by_breakpoint(cells: int, breakpoints: list[tuple[int, str]]) -> dict[str, bool]:
    """Each class, and whether it is that of the last breakpoint that so many cells reach."""
    reached = max((breakpoint for breakpoint in breakpoints if cells >= breakpoint[0]), default=None)
    return {breakpoint[1]: breakpoint == reached for breakpoint in breakpoints}
