"""Compiled code under a line with its name, linked to the lines of its source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Vertical

from kgtui.state.code.forms import lines_from
from kgtui.state.format.lines import Line
from kgtui.widgets.text.code_view import CodeView
from kgtui.widgets.text.toned import Lines


@dataclass(frozen=True, kw_only=True)
class Code:
    """A piece of compiled code: its form, its text, and the line with its name.

    `origins` are the source lines of its lines.
    """

    heading: Line = ()
    form: str = "plain"
    text: str = ""
    origins: tuple[int | None, ...] = ()


class CodePane(Vertical):
    """Compiled code under a line that names its forms; follows the source on request."""

    SEARCHES: ClassVar[bool] = True

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._code = Code()

    def compose(self) -> ComposeResult:
        """Create the widgets: the forms over the code."""
        yield Lines(classes="forms")
        yield CodeView()

    @property
    def view(self) -> CodeView:
        """The widget with the text."""
        return self.query_one(CodeView)

    @property
    def source_line(self) -> int | None:
        """The source line of the code under the cursor."""
        place = self.view.cursor_line - 1
        return self._code.origins[place] if 0 <= place < len(self._code.origins) else None

    def show(self, code: Code) -> None:
        """Show this code instead."""
        self.query_one(Lines).show((code.heading,))
        if (code.form, code.text) != (self._code.form, self._code.text):
            self.view.show_text(code.text, kind=code.form)
        self._code = code

    def highlight_own(self) -> None:
        """Highlight all code of the same source line as that under the cursor."""
        line = self.source_line
        self.view.link(() if line is None else lines_from(self._code.origins, line), reveal=False)

    def follow(self, source_line: int) -> bool:
        """Highlight the code of this source line and go to its beginning, unless the cursor is in it.

        False if there is none.
        """
        places = lines_from(self._code.origins, source_line)
        self.view.link(places, reveal=False)
        if places and self.source_line != source_line:
            self.view.go_to(places[0])
        return bool(places)

    def copied(self) -> str:
        """The line of code under the cursor."""
        return self.view.current_text

    def search(self, text: str) -> int | None:
        """Search the code."""
        return self.view.finder.search(text)

    def hit(self, step: int) -> bool:
        """Go to the next or the previous match; False if there is none."""
        return self.view.finder.hit(step)
