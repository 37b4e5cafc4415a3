"""A column under a title that is highlighted while the focus is in the column.
Only the title gets a class: for a rule with `:focus-within` Textual restyles the whole column whenever the focus moves,
which is too slow for a key.
"""

from __future__ import annotations

from textual.containers import Vertical

LIT = "-lit"


class Titled(Vertical):
    """A column whose first child is the title."""

    def on_descendant_focus(self) -> None:
        """Highlight the title: the focus is in the column."""
        self._light()

    def on_descendant_blur(self) -> None:
        """Remove the highlight: the focus left, or moves within the column."""
        self._light()

    def _light(self) -> None:
        self.children[0].set_class(self.has_focus_within, LIT)
