"""A column under a title that is lit while the focus is in it.

By a class on the title alone: for a rule that names `:focus-within` Textual styles all that is in the column
again whenever the focus moves, which takes longer than a key may.
"""

from __future__ import annotations

from textual.containers import Vertical

LIT = "-lit"


class Titled(Vertical):
    """Its first child is the title."""

    def on_descendant_focus(self) -> None:
        """The focus came in, or moved within."""
        self._light()

    def on_descendant_blur(self) -> None:
        """The focus left, or moves within."""
        self._light()

    def _light(self) -> None:
        self.children[0].set_class(self.has_focus_within, LIT)
