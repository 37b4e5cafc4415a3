"""A line to type in, behind a label that says what for; the label stays when something is typed."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Input

from kgtui.state.format.lines import line, strong
from kgtui.widgets.text.toned import Lines


class Entry(Horizontal):
    """Hidden until something is asked for; what is typed comes as the messages of its field.

    `selects` has the first letter replace the text that is there.
    """

    def __init__(self, *, id: str, selects: bool = True) -> None:
        super().__init__(id=id)
        self._selects = selects

    def compose(self) -> ComposeResult:
        """The label, and the field behind it."""
        yield Lines(classes="label")
        yield Input(compact=True, select_on_focus=self._selects)

    def on_mount(self) -> None:
        """Nothing is asked for yet."""
        self.display = False

    @property
    def field(self) -> Input:
        """What is typed in."""
        return self.query_one(Input)

    def ask(self, label: str, *, hint: str = "", value: str | None = None) -> None:
        """Show the line and type in it; the hint stands there while nothing is typed, no value keeps what was."""
        self.query_one(Lines).show((line(strong(label)),))
        self.field.placeholder = hint
        if value is not None:
            self.field.value = value
        self.field.cursor_position = len(self.field.value)
        self.display = True
        self.screen.set_focus(self.field)

    def close(self) -> None:
        """Take the line away; what was typed stays in its field."""
        self.display = False
