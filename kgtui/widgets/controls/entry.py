"""A line to type in, behind a label with its purpose, which stays while text is typed."""

from __future__ import annotations

from collections.abc import Callable

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Input

from kgtui.state.format.lines import line, strong
from kgtui.widgets.text.toned import Lines


class Entry(Horizontal):
    """A prompt, hidden until `ask`; the text goes to the callables given to `ask`.

    `selects` has the first letter replace the text that is there.
    """

    def __init__(self, *, id: str, selects: bool = True) -> None:
        super().__init__(id=id)
        self._selects = selects
        self._submitted: Callable[[str], None] | None = None
        self._typed: Callable[[str], None] | None = None

    def compose(self) -> ComposeResult:
        """The label, and the field behind it."""
        yield Lines(classes="label")
        yield Input(compact=True, select_on_focus=self._selects)

    def on_mount(self) -> None:
        """Hide the prompt."""
        self.display = False

    @property
    def field(self) -> Input:
        """The input field."""
        return self.query_one(Input)

    def ask(
        self,
        label: str,
        *,
        submitted: Callable[[str], None],
        typed: Callable[[str], None] | None = None,
        hint: str = "",
        value: str | None = None,
    ) -> None:
        """Show the line and type in it: `typed` gets each change of the text, `submitted` the text at enter.

        The hint is shown while nothing is typed; without a value the field keeps what it had.
        """
        self._submitted, self._typed = submitted, typed
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

    @on(Input.Changed)
    def _changed(self, message: Input.Changed) -> None:
        message.stop()
        if self._typed is not None:
            self.screen.call_later(self._typed, message.value)

    @on(Input.Submitted)
    def _entered(self, message: Input.Submitted) -> None:
        message.stop()
        if self._submitted is not None:
            self.screen.call_later(self._submitted, message.value)
