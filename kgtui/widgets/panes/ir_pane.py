"""The IR tab: the kernels that were compiled for the target, what they take up, and their code."""

from __future__ import annotations

from dataclasses import dataclass

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widget import Widget
from textual.widgets import DataTable

from engine.model import CompiledKernel, Outcome
from kgtui.state.code.forms import lines_from
from kgtui.state.format.lines import Line
from kgtui.state.run.resources import resource_words
from kgtui.state.run.tables import kernel_columns, kernel_note, kernel_rows
from kgtui.widgets.panes.pane import Pane, Scene
from kgtui.widgets.text.code_view import CodeView
from kgtui.widgets.text.toned import Grid, Lines


@dataclass(frozen=True, kw_only=True)
class Code:
    """A piece of compiled code: its form, its text, and the line that says what it is.

    `origins` are the source lines that its lines came from.
    """

    heading: Line = ()
    form: str = "plain"
    text: str = ""
    origins: tuple[int | None, ...] = ()


class CodePane(Vertical):
    """Compiled code under a line that names its forms; follows the source when asked."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._code = Code()

    def compose(self) -> ComposeResult:
        """The forms over the code."""
        yield Lines(classes="forms")
        yield CodeView()

    @property
    def view(self) -> CodeView:
        """The widget with the text."""
        return self.query_one(CodeView)

    @property
    def source_line(self) -> int | None:
        """The source line that the code under the cursor came from."""
        place = self.view.cursor_line - 1
        return self._code.origins[place] if 0 <= place < len(self._code.origins) else None

    def show(self, code: Code) -> None:
        """Show this code instead."""
        self.query_one(Lines).show((code.heading,))
        if (code.form, code.text) != (self._code.form, self._code.text):
            self.view.show_text(code.text, kind=code.form)
        self._code = code

    def highlight_own(self) -> None:
        """Point out all the code that came from the same source line as that under the cursor."""
        line = self.source_line
        self.view.link(() if line is None else lines_from(self._code.origins, line), reveal=False)

    def follow(self, source_line: int) -> bool:
        """Point out the code that came from this source line and go to its beginning, unless the reader is in it.

        False when there is none.
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
        return self.view.search(text)

    def hit(self, step: int) -> None:
        """The next or the previous match."""
        self.view.hit(step)


class IrPane(Pane):
    """The kernels in a table, what the one under the cursor takes up, and its code below."""

    class TargetLeft(Message):
        """The kernels of another target have been read; those of the run are to come back."""

    class KernelChosen(Message):
        """The cursor is on another kernel."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._scene: Scene | None = None

    def compose(self) -> ComposeResult:
        """The table, a note for when it is empty, the resources in words, the code."""
        yield Grid(kernel_columns(()), id="kernels-table")
        yield Lines(id="kernel-resources")
        yield Lines(id="kernels-note")
        yield CodePane(id="ir-code")

    @property
    def main(self) -> Widget:
        """The table, or the code when there is some."""
        return self.query_one(Grid)

    @property
    def code(self) -> CodePane:
        """The code below the table."""
        return self.query_one(CodePane)

    @property
    def current(self) -> CompiledKernel | None:
        """The kernel under the cursor."""
        key = self.query_one(Grid).current
        if key is None or self._scene is None or int(key) >= len(self._scene.kernels):
            return None
        return self._scene.kernels[int(key)]

    def show(self, scene: Scene) -> None:
        """Draw the kernels."""
        self._scene = scene
        view = scene.bench.results
        grid = self.query_one(Grid)
        current = grid.current
        grid.set_columns(kernel_columns(scene.kernels))
        grid.show(kernel_rows(scene.kernels, view, glyphs=scene.glyphs, stale=scene.outdated))
        if current is not None:
            grid.go_to(current)
        self.set_class(not scene.kernels, "-empty")
        self.query_one("#kernels-note", Lines).show((kernel_note(view),))
        self._show_resources()

    def step_back(self) -> bool:
        """From another target's kernels to those of the run."""
        if self._scene is None or not self._scene.foreign_target:
            return False
        self.post_message(self.TargetLeft())
        return True

    def followed_line(self) -> int | None:
        """The line of the code under the cursor, or where the kernel is launched."""
        if self.code.view.has_focus:
            return self.code.source_line
        kernel = self.current
        if kernel is None:
            return None
        return kernel.location.line if kernel.location else kernel.launch.line

    def copied(self) -> str:
        """The line of code under the cursor, or the kernel's name."""
        if self.code.view.has_focus:
            return self.code.copied()
        return self.current.launch.kernel if self.current else ""

    def search(self, text: str) -> int | None:
        """Search the code."""
        return self.code.search(text)

    def hit(self, step: int) -> None:
        """The next or the previous match in the code."""
        self.code.hit(step)

    @on(DataTable.RowHighlighted)
    def _row_highlighted(self) -> None:
        self._show_resources()
        self.post_message(self.KernelChosen())

    def _show_resources(self) -> None:
        kernel = self.current
        self.set_class(kernel is not None and kernel.outcome is not Outcome.PASS, "-unbuilt")
        self.query_one("#kernel-resources", Lines).show((resource_words(kernel),) if kernel else ())
