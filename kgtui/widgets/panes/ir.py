"""The IR tab: the kernels compiled for the target, their resources and memory traffic, and their code."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.message import Message
from textual.widget import Widget
from textual.widgets import DataTable

from engine.model import CompiledKernel, Outcome
from engine.reports.run_record import RunRecord
from kgtui.state.format.lines import Line, line
from kgtui.state.run.resources import resource_words
from kgtui.state.run.tables import kernel_columns, kernel_note, kernel_rows, left_out_note
from kgtui.state.run.traffic import traffic_lines
from kgtui.widgets.panes.base.code_pane import CodePane
from kgtui.widgets.panes.base.pane import Followed, Pane, Scene
from kgtui.widgets.text.toned import Grid, Lines

ORDER = 40
TITLE = "IR"


def make() -> IrPane:
    """The pane of one workbench."""
    return IrPane()


class IrPane(Pane):
    """A table of kernels, with resources and code of the one under the cursor."""

    SEARCHES = True

    class TargetLeft(Message):
        """Message: leave the kernels of another target, and show those of the run."""

    class KernelChosen(Message):
        """Message: the cursor moved to another kernel."""

    def __init__(self) -> None:
        super().__init__()
        self._scene: Scene | None = None

    def label(self, results: RunRecord, wanted: str) -> Line:
        """The number of compiled kernels."""
        return line(f"({len(results.kernels)})" if results.kernels else "")

    def compose(self) -> ComposeResult:
        """Create the widgets: the table, a note for an empty one, the resources, the code."""
        yield Grid(kernel_columns(()), id="kernels-table")
        yield Lines(id="kernel-resources")
        yield Lines(id="kernels-note")
        yield CodePane(id="ir-code")

    @property
    def main(self) -> Widget:
        """The table, or the code if there is any."""
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
        note = left_out_note(view) if scene.kernels and not scene.foreign_target else kernel_note(view)
        self.set_class(bool(scene.kernels and note), "-partial")
        self.query_one("#kernels-note", Lines).show((note,))
        self._show_resources()

    def step_back(self) -> bool:
        """Return from another target's kernels to those of the run."""
        if self._scene is None or not self._scene.foreign_target:
            return False
        self.post_message(self.TargetLeft())
        return True

    def follow(self) -> Followed:
        """The source line of the code under the cursor, or that of the launch."""
        if self.code.view.has_focus:
            return Followed(line=self.code.source_line)
        kernel = self.current
        if kernel is None:
            return Followed()
        return Followed(line=kernel.location.line if kernel.location else kernel.launch.line)

    def copied(self) -> str:
        """The line of code under the cursor, or the kernel's name."""
        if self.code.view.has_focus:
            return self.code.copied()
        return self.current.launch.kernel if self.current else ""

    def search(self, text: str) -> int | None:
        """Search the code."""
        return self.code.search(text)

    def hit(self, step: int) -> bool:
        """Go to the next or the previous match in the code; False if there is none."""
        return self.code.hit(step)

    @on(DataTable.RowHighlighted)
    def _row_highlighted(self) -> None:
        self._show_resources()
        self.post_message(self.KernelChosen())

    def _show_resources(self) -> None:
        kernel = self.current
        self.set_class(kernel is not None and kernel.outcome is not Outcome.PASS, "-unbuilt")
        lines = (resource_words(kernel), *traffic_lines(kernel.launch)) if kernel else ()
        self.query_one("#kernel-resources", Lines).show(lines)
