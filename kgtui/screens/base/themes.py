"""The themes of the screen: Textual's own, with text colours that are readable on every background.
Each keeps its Textual name.  A terminal's own sixteen colours are chosen for the palettes of xterm and VGA, on black
for the dark theme and on white for the light one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from textual.theme import BUILTIN_THEMES, Theme

if TYPE_CHECKING:
    from collections.abc import Mapping

_TEXT: Mapping[str, Mapping[str, str]] = {
    "textual-dark": {"text-error": "#F0B4C2", "text-primary": "#8CC4F2", "text-secondary": "#9FC2DA"},
    "textual-light": {
        "text-success": "#0F4A25",
        "text-warning": "#5C3600",
        "text-error": "#6E1F33",
        "text-accent": "#4A1F5C",
        "text-secondary": "#003A66",
    },
    "ansi-dark": {
        "text-error": "ansi_bright_red",
        "text-warning": "ansi_bright_yellow",
        "text-primary": "ansi_bright_cyan",
    },
    "ansi-light": {
        "text-success": "ansi_blue",
        "text-warning": "ansi_magenta",
        "text-accent": "ansi_magenta",
        "text-secondary": "ansi_blue",
    },
}


def themes() -> tuple[Theme, ...]:
    """Themes of the settings."""
    return tuple(
        replace(BUILTIN_THEMES[name], variables={**BUILTIN_THEMES[name].variables, **text})
        for name, text in _TEXT.items()
    )
