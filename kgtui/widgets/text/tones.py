"""The styles of tones: each a class of the style sheets, computed once per screen.
As component classes of every widget that draws spans, nine styles for each of them dominated the time that Textual
takes to style a screen.  So a tone has the same colour in every widget.
"""

from __future__ import annotations

from textual.css.styles import RenderStyles
from textual.widget import Widget

from kgtui.state.format.lines import Tone

TONE_CLASSES = frozenset({f"tone--{tone}" for tone in Tone})


class Toned(Widget):
    """A widget that draws in the tones of its screen."""

    def get_component_styles(self, *names: str) -> RenderStyles:
        """The styles of tones from the screen, all others from the widget."""
        if TONE_CLASSES.issuperset(names):
            return self.screen.get_component_styles(*names)
        return super().get_component_styles(*names)
