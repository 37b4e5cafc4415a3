"""Inputs for replacing text in the open file and for going to a line."""

from __future__ import annotations

import enum

from kgtui.screens.workbench.context import WorkbenchContext
from kgtui.screens.workbench.editing.file import FileKeeper
from kgtui.state.workbench.status import Mode
from kgtui.widgets.controls.ask import Answer, Ask
from kgtui.widgets.controls.entry import Entry

_REPLACE = "replace"
_ANSWERS = (
    Answer(key="y", label="replace"),
    Answer(key="n", label="skip"),
    Answer(key="a", label="replace all"),
)


class _Step(enum.StrEnum):
    """Current input of a replacement."""

    LINE = "go to line"
    OLD = "replace"
    NEW = "replace with"


class Replacer:
    """Replaces text in one workbench screen: inputs for text and replacement, then a question at each place."""

    def __init__(self, context: WorkbenchContext, *, file: FileKeeper) -> None:
        self._context = context
        self._file = file
        self._step = _Step.LINE
        self._old = ""
        self._new = ""
        self._done = 0

    @property
    def open(self) -> bool:
        """Whether the input line is open."""
        return self._line.display

    def action_replace(self) -> None:
        """Open the input for the search text; only editable text can be replaced."""
        context = self._context
        self._file.action_edit()
        if context.bench.mode is Mode.EDIT:
            editor = context.source.editor
            match = editor.finder.sought if editor.finder.released is not None else ""
            selected = editor.selected_text or match
            self._ask(_Step.OLD, hint="search text", value=selected if "\n" not in selected else "")

    def action_go_to_line(self) -> None:
        """Open the input for the number of a line."""
        self._ask(_Step.LINE, hint=f"1 to {self._context.source.editor.document.line_count:,}", value="")

    def _submitted(self, text: str) -> None:
        """Process the input, and open the next one."""
        if self._step is _Step.LINE:
            self.close()
            self._go(text)
        elif self._step is _Step.OLD and text:
            self._old = text
            self._ask(_Step.NEW, hint="leave empty to delete it", value="")
        elif self._step is _Step.NEW:
            self._new, self._done = text, 0
            self.close()
            self._context.source.editor.move_cursor((0, 0))
            self._ask_at_next()
        else:
            self.close()

    def _answered(self, key: str) -> None:
        """Carry out the user's choice at this place, or at all remaining ones."""
        editor = self._context.source.editor
        self._context.source.take_keys()
        match key:
            case "y":
                editor.finder.replace_selection(self._new)
                self._done += 1
                self._ask_at_next()
            case "n":
                editor.move_cursor(editor.selection.end)
                self._ask_at_next()
            case "a":
                self._done += editor.finder.replace_hits(self._old, self._new)
                self._say()
            case _:
                self._say()

    def close(self) -> None:
        """Close the input line."""
        self._line.close()
        self._context.source.take_keys()

    @property
    def _line(self) -> Entry:
        return self._context.screen.query_one("#entry", Entry)

    def _ask(self, step: _Step, *, hint: str, value: str) -> None:
        self._context.screen.app.clear_notifications()  # they would cover the input line
        self._step = step
        self._line.ask(step, submitted=self._submitted, hint=hint, value=value)

    def _ask_at_next(self) -> None:
        left = self._context.source.editor.finder.select_next(self._old)
        if left:
            question = f"Replace {self._old!r} with {self._new!r}? {left} left"
            self._context.screen.query_one(Ask).ask(_REPLACE, question, _ANSWERS, answered=self._answered)
        else:
            self._say()

    def _say(self) -> None:
        self._context.source.end_search()
        places = "1 place" if self._done == 1 else f"{self._done} places"
        words = f"replaced in {places}" if self._done else f"{self._old!r} was not replaced anywhere"
        self._context.notify(words)

    def _go(self, text: str) -> None:
        if text.strip().isdecimal():
            self._context.source.go_to(int(text))
        elif text.strip():
            self._context.notify(f"expected the number of a line, got {text!r}", severity="warning")
