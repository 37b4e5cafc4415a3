"""An input line behind a label with its purpose, which stays while text is typed."""

from __future__ import annotations

from collections.abc import Callable

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Input

from kgtui.state.format.lines import line, strong
from kgtui.widgets.text.toned import Lines
from kgtui.widgets.text.typed_keys import Field


class Entry(Horizontal):
    """An input line, hidden until `ask`; its text is passed to the callables given to `ask`.
    With `selects` the first letter replaces the existing text.
    """

    def __init__(self, *, id: str, selects: bool = True) -> None:
        super().__init__(id=id)
        self._selects = selects
        self._submitted: Callable[[str], None] | None = None
        self._typed: Callable[[str], None] | None = None

    def compose(self) -> ComposeResult:
        """Create the label, and the field behind it."""
        yield Lines(classes="label")
        yield Field(compact=True, select_on_focus=self._selects)

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
        """Show and focus the line: `typed` is called with each change of the text, `submitted` with the text at enter.
        The hint is shown while the field is empty; without a value the field keeps its text.
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
        """Hide the line; its text is kept."""
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
