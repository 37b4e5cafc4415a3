"""Keys in the order in which they were typed, also where many arrive in one piece.

Textual runs a binding of a text field only when its key has bubbled up to the application, after the letters that were
typed next: over a slow connection backspace removed one of those.
"""

from __future__ import annotations

from collections.abc import Callable

from textual.events import Key
from textual.widget import Widget
from textual.widgets import Input, TextArea

_INSERTED = frozenset({"enter", "tab"})


def is_for_text(widget: Widget | None, event: Key) -> bool:
    """Whether the widget takes text, and would handle this key itself if it reached it."""
    if isinstance(widget, Field):
        return event.is_printable or _has_binding(widget, event)
    if isinstance(widget, TextArea) and not widget.read_only:
        return event.is_printable or event.key in _INSERTED or _has_binding(widget, event)
    return isinstance(widget, Input) and event.is_printable


def after_typed(widget: Widget | None, act: Callable[[], None]) -> None:
    """Act once a text field has taken the letters typed before the key of this action.

    Textual runs a binding with priority at once, even if letters before it are not handled yet: quitting lost them.
    """
    takes_text = isinstance(widget, Input) or (isinstance(widget, TextArea) and not widget.read_only)
    if widget is None or not takes_text or not widget.call_later(act):
        act()


def _has_binding(widget: Widget, event: Key) -> bool:
    return event.key in widget._bindings.key_to_bindings  # no public access


async def run_own_binding(widget: Widget, event: Key) -> None:
    """Run the binding that the widget itself has for this key."""
    for binding in widget._bindings.key_to_bindings.get(event.key, ()):  # no public access
        if await widget.app.run_action(binding.action, widget):
            event.stop()
            event.prevent_default()
            return


class Field(Input):
    """A line of text whose keys have an effect in the order in which they were typed."""

    async def on_key(self, event: Key) -> None:
        """Move the cursor, delete or submit at once."""
        if not event.is_printable:
            await run_own_binding(self, event)
