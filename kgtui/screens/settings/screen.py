"""Settings with value and source; a change takes effect here, and is written only on request.

The change is shown before it is written, line by line.
"""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widgets import DataTable

from engine.errors import UsageError
from kgtui.screens import Place
from kgtui.screens.base.host import Host
from kgtui.screens.base.screen import KgtuiScreen
from kgtui.screens.settings.rows import (
    SettingsView,
    action_of,
    columns_for,
    detail_of,
    next_value,
    rows_of,
    value_text,
)
from kgtui.settings.file_edit import Change, line_of
from kgtui.settings.keymap import key_name
from kgtui.settings.keys import Where, bindings_of
from kgtui.settings.schema import KEYS_TABLE, OPTION_BY_KEY, Value
from kgtui.state.format.lines import Line, Span, Tone, line, muted, strong
from kgtui.widgets.controls.ask import Answer, Ask
from kgtui.widgets.controls.bars import Bar, Strip
from kgtui.widgets.controls.entry import Entry
from kgtui.widgets.controls.too_small import TooSmall
from kgtui.widgets.text.toned import Grid, Lines

PLACE = Place.OVER

_WRITE = "write"
_FIND = "find"


def make(host: Host) -> SettingsScreen:
    """The settings of this application."""
    return SettingsScreen()


class SettingsScreen(KgtuiScreen):
    """The settings, over any other screen."""

    WHERE = Where.SETTINGS
    CSS_PATH = "../../styles/settings.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(Where.SETTINGS)]

    def __init__(self) -> None:
        super().__init__()
        self._wanted = ""
        self._typing_for = ""

    def compose(self) -> ComposeResult:
        """Create the widgets: the file, the list, details of the row under the cursor, an input and a question."""
        yield Lines(id="banner")
        yield Strip(id="file")
        yield Grid(columns_for(80), id="settings")
        yield Lines(id="about")
        yield Entry(id="entry")
        yield Ask(id="ask")
        yield Bar(id="keys")
        yield TooSmall()

    def on_mount(self) -> None:
        """Draw the effective settings."""
        self.query_one(Ask).display = False
        self.draw()
        self.set_focus(self._grid)

    def draw(self) -> None:
        """Draw what has changed."""
        self.show_trouble()
        self.show_keys_but(dict.fromkeys(("revert", "write"), not self.host.appearance.changes))
        self.query_one("#file", Strip).show((self._head(),))
        self._grid.show(rows_of(self._view, wanted=self._wanted))
        self._draw_about()

    def on_resize(self) -> None:
        """Fit the last column to the new width."""
        self._grid.set_columns(columns_for(self.size.width))
        self.call_after_refresh(self.draw)

    # Actions

    def action_change(self) -> None:
        """Change to the next value, or open an input for one."""
        key = self._grid.current
        if key is None:
            return
        option = OPTION_BY_KEY.get(key)
        following = next_value(option, self._view.preferences.of(key).value) if option is not None else None
        if following is not None:
            self._change(key, following)
            return
        hint = "keys separated by spaces, such as f9 ctrl+t ?" if option is None else option.help
        self._ask_for(key, hint=hint, value=value_text(self._view, key))

    def action_take_back(self) -> None:
        """Undo the change under the cursor."""
        key = self._grid.current
        if key not in self.host.appearance.changes:
            self.notify("this setting was not changed here", markup=False)
            return
        try:
            self.host.appearance.take_back(key)
        except UsageError as error:
            self.notify(str(error), severity="error", markup=False)
        self.host.appearance_changed()

    def action_write(self) -> None:
        """Show the change of the file, and ask for confirmation."""
        if not self.host.appearance.changes:
            self.notify("nothing was changed here, so there is nothing to write", markup=False)
            return
        self.app.clear_notifications()  # they would cover the question
        self.query_one(Ask).ask(
            _WRITE, "Write these lines?", (Answer(key="y", label="write them"),), answered=self._answered
        )
        self._draw_about()

    def action_find(self) -> None:
        """Filter the rows by typed letters."""
        self._ask_for(_FIND, hint="letters of a setting, a binding or its description", value=self._wanted)

    def action_copy_value(self) -> None:
        """Copy the row as a line of the file."""
        key, view = self._grid.current, self._view
        if key is None:
            return
        action = action_of(view.keymap, key)
        value = action.keys if action is not None else view.preferences.of(key).value
        self.copy_text(line_of(key, value) if value is not None else "")

    def action_step_back(self) -> None:
        """Close the question, the input line, the search, or the screen."""
        if self.query_one(Ask).subject:
            self._answered("escape")
        elif self._entry.display:
            self._leave_entry()
        elif self._wanted:
            self._wanted = ""
            self.draw()
        else:
            self.action_close()

    # Messages

    def _answered(self, key: str) -> None:
        self.query_one(Ask).close()
        if key == "y":
            try:
                self.host.appearance.write()
            except UsageError as error:
                self.notify(str(error), severity="error", markup=False)
            else:
                self.notify(f"written: {self._view.preferences.config.path}", markup=False)
        self.set_focus(self._grid)
        self.host.appearance_changed()

    def _typed(self, text: str) -> None:
        if self._typing_for == _FIND:
            self._wanted = text
            self._grid.show(rows_of(self._view, wanted=self._wanted))

    def _submitted(self, text: str) -> None:
        if self._typing_for == _FIND:
            self._leave_entry()
            return
        value = self._read(self._typing_for, text.strip())
        if value is not None and self._change(self._typing_for, value):
            self._leave_entry()

    @on(DataTable.RowSelected)
    def _row_selected(self) -> None:
        self.action_change()

    @on(DataTable.RowHighlighted)
    def _row_highlighted(self) -> None:
        self._draw_about()

    # Inside

    @property
    def _view(self) -> SettingsView:
        appearance = self.host.appearance
        return SettingsView(
            preferences=appearance.preferences,
            keymap=appearance.keymap,
            changes=appearance.changes,
            detected=appearance.detected,
        )

    @property
    def _grid(self) -> Grid:
        return self.query_one("#settings", Grid)

    @property
    def _entry(self) -> Entry:
        return self.query_one("#entry", Entry)

    def _head(self) -> tuple[Line, Line]:
        config, changed = self._view.preferences.config, len(self.host.appearance.changes)
        there = "" if config.text is not None else "  does not exist yet; w creates it"
        more = line(Span(f"{changed} changed here, not written", Tone.WARN)) if changed else ()
        return line(strong("Settings"), f"  {config.path}", muted(there)), more

    def _draw_about(self) -> None:
        key = self._grid.current
        if self.query_one(Ask).subject:
            lines = [line(muted(f"in {self._view.preferences.config.path}:"))]
            tones = {"+": Tone.GOOD, "-": Tone.BAD}
            lines += [line(Span(text, tones[text[0]])) for text in self.host.appearance.difference]
            self.query_one("#about", Lines).show(tuple(lines))
        elif key is not None:
            self.query_one("#about", Lines).show(detail_of(self._view, key))
        else:
            self.query_one("#about", Lines).show((line(muted(f"no setting has {self._wanted!r}; esc shows all")),))

    def _change(self, key: str, value: Change) -> bool:
        try:
            self.host.appearance.change(key, value)
        except UsageError as error:
            self.notify(str(error), severity="error", markup=False)
            return False
        self.app.clear_notifications()  # earlier error messages no longer apply
        self.host.appearance_changed()
        return True

    def _read(self, key: str, text: str) -> Change | None:
        """The typed value in the setting's type; None, with a message, if it is invalid."""
        if key not in OPTION_BY_KEY:
            return tuple(map(key_name, text.split())) or None
        value: Value = text
        if OPTION_BY_KEY[key].kind is float:
            try:
                value = float(text)
            except ValueError:
                self.notify(f"{key}: expected a number, got {text!r}", severity="error", markup=False)
                return None
        return value

    def _ask_for(self, subject: str, *, hint: str, value: str) -> None:
        self._typing_for = ""
        self.app.clear_notifications()  # they would cover the input line
        label = subject.removeprefix(f"{KEYS_TABLE}.")
        self._entry.ask(label, submitted=self._submitted, typed=self._typed, hint=hint, value=value)
        self._typing_for = subject

    def _leave_entry(self) -> None:
        self._entry.close()
        self._typing_for = ""
        self.set_focus(self._grid)
        self.draw()
