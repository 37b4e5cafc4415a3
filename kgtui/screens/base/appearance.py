"""The user's current choice of appearance: from the file, and changed since but not written.

A change is tried on the text of the settings file, so what holds after it, what is wrong with it and what would be
written are one and the same thing.  The file is written when the user says so, and at no other time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import App
from textual.scrollbar import ScrollBar, ScrollBarRender

from engine.errors import UsageError
from kgtui.screens.base.themes import themes
from kgtui.settings.file_edit import Change, difference, edited
from kgtui.settings.file_write import write_config
from kgtui.settings.keymap import Keymap, keymap_of
from kgtui.settings.schema import Config, Theme
from kgtui.widgets.controls.scrollbars import WholeCells

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kgtui.settings.keys import Action
    from kgtui.settings.preferences import Preferences

_TEXTUAL_THEMES: Mapping[str, str] = {Theme.DARK: "textual-dark", Theme.LIGHT: "textual-light"}


class Appearance:
    """The preferences and keys of one application; `apply` puts them on."""

    def __init__(self, app: App[None], preferences: Preferences) -> None:
        self._app = app
        for theme in themes():
            app.register_theme(theme)
        self._written = preferences.config
        self.changes: dict[str, Change] = {}
        self.preferences = preferences
        self.keymap = _keys_under(preferences.config)

    @property
    def actions(self) -> tuple[Action, ...]:
        """Every action with the keys that it has."""
        return self.keymap.actions

    @property
    def trouble(self) -> str:
        """Trouble with the file, shown until it is repaired; "" without any."""
        problems = (*self.preferences.problems, *self.keymap.problems)
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        return f"{problems[0]}{more}; `kgtui config show` lists all" if problems else ""

    @property
    def difference(self) -> tuple[str, ...]:
        """The lines of the file that writing would take away and put in."""
        return difference(self._written, self.preferences.config)

    def apply(self) -> None:
        """Give the application the theme, the signs and the keys."""
        theme = self.preferences.text("theme") or ""
        theme = _TEXTUAL_THEMES.get(theme, theme)
        if theme in self._app.available_themes:
            self._app.theme = theme
        is_ascii = self.preferences.is_ascii
        self._app.set_class(is_ascii, "-ascii")
        # Textual has one renderer for the whole process: it is set for either set of signs.
        ScrollBar.renderer = WholeCells if is_ascii else ScrollBarRender
        self._app.set_keymap(self.keymap.bindings)

    def change(self, name: str, value: Change) -> None:
        """Change a setting, for this start only until it is written.

        Raises:
            UsageError: it cannot be had, or the file could not hold it; nothing has changed.
        """
        self._take({**self.changes, name: value})

    def take_back(self, name: str) -> None:
        """As if it had not been changed."""
        self._take({key: value for key, value in self.changes.items() if key != name})

    def write(self) -> None:
        """Write the file with all that was changed.

        Raises:
            UsageError: it cannot be written; the changes still hold until the end.
        """
        write_config(self.preferences.config)
        self._written, self.changes = self.preferences.config, {}

    def _take(self, changes: dict[str, Change]) -> None:
        config = edited(self._written, changes) if changes else self._written
        preferences, keymap = self.preferences.under(config), _keys_under(config)
        known = {*self.preferences.under(self._written).problems, *_keys_under(self._written).problems}
        if new := [words for words in (*preferences.problems, *keymap.problems) if words not in known]:
            raise UsageError(new[0].removeprefix(f"{config.path}, "))
        self.changes, self.preferences, self.keymap = changes, preferences, keymap
        self.apply()


def _keys_under(config: Config) -> Keymap:
    return keymap_of(config.asked.keys, file=str(config.path))
