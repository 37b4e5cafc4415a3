"""The tones that spans are drawn in: each a class of the style sheets, worked out once for a screen.

As component classes of every widget that draws spans they were nine styles for each of them: most of what it takes
Textual to style a screen, which it does in one turn of the loop.  So no rule may give a tone another colour in one
widget than in the next.
"""

from __future__ import annotations

from textual.css.styles import RenderStyles
from textual.widget import Widget

from kgtui.state.format.lines import Tone

TONE_CLASSES = frozenset({f"tone--{tone}" for tone in Tone})


class Toned(Widget):
    """Draws in the tones of its screen."""

    def get_component_styles(self, *names: str) -> RenderStyles:
        """Of tones those of the screen, of all else its own."""
        if TONE_CLASSES.issuperset(names):
            return self.screen.get_component_styles(*names)
        return super().get_component_styles(*names)
