"""The IR tab: the kernels that were compiled for the target, what they take up, and their code."""

from __future__ import annotations

from dataclasses import dataclass

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widget import Widget
from textual.widgets import DataTable

from engine.model import CompiledKernel
from kgtui.state.code import lines_from, source_lines
from kgtui.state.lines import Line
from kgtui.state.tables import KERNEL_COLUMNS, kernel_note, kernel_rows
from kgtui.widgets.code_view import CodeView
from kgtui.widgets.pane import Pane, Scene
from kgtui.widgets.toned import Grid, Lines


@dataclass(frozen=True, kw_only=True)
class Code:
    """A piece of compiled code: its form, its text, and the line that says what it is."""

    heading: Line = ()
    form: str = "plain"
    text: str = ""


class CodePane(Vertical):
    """Compiled code under a line that names its forms; follows the source when asked."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._code = Code()
        self._origins: tuple[int | None, ...] = ()

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
        return self._origins[place] if 0 <= place < len(self._origins) else None

    def show(self, code: Code) -> None:
        """Show this code instead."""
        self.query_one(Lines).show((code.heading,))
        if (code.form, code.text) != (self._code.form, self._code.text):
            self.view.show_text(code.text, kind=code.form)
            self._origins = source_lines(code.text, form=code.form)
        self._code = code

    def follow(self, source_line: int) -> bool:
        """Point out the code that came from this source line and go to its beginning; False when there is none."""
        places = lines_from(self._origins, source_line)
        self.view.link(places, reveal=False)
        if places:
            self.view.go_to(places[0])
        return bool(places)


class IrPane(Pane):
    """The kernels in a table, the code of the one under the cursor below it."""

    class KernelChosen(Message):
        """The cursor is on another kernel."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._scene: Scene | None = None

    def compose(self) -> ComposeResult:
        """The table, a note for when it is empty, the code."""
        yield Grid(KERNEL_COLUMNS, id="kernels-table")
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
        return self._scene.bench.view.kernels[int(key)] if key and self._scene else None

    def show(self, scene: Scene) -> None:
        """Draw the kernels."""
        self._scene = scene
        view = scene.bench.view
        self.query_one(Grid).show(kernel_rows(view, glyphs=scene.glyphs, stale=scene.stale))
        self.set_class(not view.kernels, "-empty")
        self.query_one("#kernels-note", Lines).show((kernel_note(view),))

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
            return self.code.view.current_text
        return self.current.launch.kernel if self.current else ""

    def search(self, text: str) -> int | None:
        """Search the code."""
        return self.code.view.search(text)

    def hit(self, step: int) -> None:
        """The next or the previous match in the code."""
        self.code.view.hit(step)

    @on(DataTable.RowHighlighted)
    def _row_highlighted(self) -> None:
        self.post_message(self.KernelChosen())
