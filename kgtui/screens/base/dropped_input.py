"""Input that is dropped, since the terminal is too small to show its effect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.events import Event, Key, Paste

from kgtui.screens.base.screen import KgtuiScreen

if TYPE_CHECKING:
    from textual.app import App


def is_dropped(app: App[None], event: Event) -> bool:
    """Whether only the message of a tiny terminal is shown, and this is text or a key that does not quit."""
    fronts = app.screen_stack[-1:]  # there is none while the application starts and shuts down
    if not isinstance(event, Key | Paste) or not any(
        isinstance(one, KgtuiScreen) and one.is_too_small for one in fronts
    ):
        return False
    bound = app.active_bindings.get(event.key) if isinstance(event, Key) else None
    return bound is None or bound.binding.action != "app.quit"
