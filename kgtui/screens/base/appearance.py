"""The user's current appearance settings: from the file, with unsaved changes.
A change is applied to the text of the settings file, so that the effective settings, their errors and the text to be
written always agree.  The file is written only on request.
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
from kgtui.settings.preferences import DETECTED
from kgtui.settings.schema import Config, Theme
from kgtui.widgets.controls.scrollbars import WholeCells

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kgtui.settings.keys import Action
    from kgtui.settings.preferences import Preferences

_TEXTUAL_THEMES: Mapping[str, str] = {Theme.DARK: "textual-dark", Theme.LIGHT: "textual-light"}


class Appearance:
    """The preferences and keys of one application; `apply` makes them effective.

    `in_use` has the device and target of this start; `detected` those of them that no setting chose.
    """

    def __init__(self, app: App[None], preferences: Preferences, *, in_use: Mapping[str, str]) -> None:
        self._app = app
        for theme in themes():
            app.register_theme(theme)
        self._written = preferences.config
        self.changes: dict[str, Change] = {}
        self.preferences = preferences
        self.detected = {key: value for key, value in in_use.items() if preferences.of(key).source == DETECTED}
        self.keymap = _keys_under(preferences.config)

    @property
    def actions(self) -> tuple[Action, ...]:
        """Every action with its keys."""
        return self.keymap.actions

    @property
    def trouble(self) -> str:
        """Problem with the file, shown until it is repaired; "" if there is none."""
        problems = (*self.preferences.problems, *self.keymap.problems)
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        return f"{problems[0]}{more}; `kgtui config show` lists all" if problems else ""

    @property
    def difference(self) -> tuple[str, ...]:
        """The lines that writing would remove from the file and add to it."""
        return difference(self._written, self.preferences.config)

    def apply(self) -> None:
        """Apply theme, glyphs and keys to the application."""
        theme = self.preferences.text("theme") or ""
        theme = _TEXTUAL_THEMES.get(theme, theme)
        if theme in self._app.available_themes:
            self._app.theme = theme
        is_ascii = self.preferences.is_ascii
        self._app.set_class(is_ascii, "-ascii")
        # Textual has one renderer for the whole process: it is set for either glyph set.
        ScrollBar.renderer = WholeCells if is_ascii else ScrollBarRender
        self._app.set_keymap(self.keymap.bindings)

    def change(self, name: str, value: Change) -> None:
        """Change a setting, temporarily until it is written.

        Raises:
            UsageError: it is invalid, or the file cannot contain it; nothing has changed.
        """
        self._take({**self.changes, name: value})

    def take_back(self, name: str) -> None:
        """Undo the change of a setting."""
        self._take({key: value for key, value in self.changes.items() if key != name})

    def write(self) -> None:
        """Write the file with all that was changed.

        Raises:
            UsageError: it cannot be written; the changes stay in effect until the program exits.
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
    return keymap_of(config.settings.keys, file=str(config.path))
