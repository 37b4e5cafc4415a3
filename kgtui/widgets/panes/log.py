"""The log tab: output of the kernel and messages of the engine, in order of arrival."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.widget import Widget

from engine.model.events import LogWritten
from kgtui.state.run.log import LogRows
from kgtui.widgets.panes.base.pane import Pane, Scene
from kgtui.widgets.text.code_view import CodeView

_SCROLL_BAR = 1


ORDER = 60
TITLE = "Log"


def make() -> LogPane:
    """The pane of one workbench."""
    return LogPane()


class LogPane(Pane):
    """The log; appends new rows, and is redrawn for a new run or another width."""

    SEARCHES = True

    def __init__(self) -> None:
        super().__init__()
        self._log: tuple[LogWritten, ...] = ()
        self._cells = 0
        self._rows = LogRows(cells=0)
        self._scene: Scene | None = None

    def compose(self) -> ComposeResult:
        """Create the text widget."""
        nothing = " no output yet; output of the file appears here"
        yield CodeView(empty=nothing, line_numbers=False, id="log-text")

    @property
    def main(self) -> Widget:
        """The text."""
        return self.query_one(CodeView)

    def show(self, scene: Scene) -> None:
        """Draw the log of the run."""
        self._scene = scene
        log, view = scene.bench.view.log, self.query_one(CodeView)
        cells, shown = self.size.width - _SCROLL_BAR, len(self._log)
        is_other = shown > len(log) or (shown and log[shown - 1] is not self._log[-1])
        if is_other or cells != self._cells:
            view.show_text("", kind="log")
            self._cells, self._rows, shown = cells, LogRows(cells=cells), 0
        rows = self._rows.add(log[shown:])
        if scene.bench.view.verdict is not None:
            rows += self._rows.end()
        if rows:
            view.append_lines(rows)
        self._log = log

    def on_resize(self) -> None:
        """Wrap the lines for the new width."""
        if self._scene is not None and self.size.width - _SCROLL_BAR != self._cells:
            self.show(self._scene)

    def copied(self) -> str:
        """The whole line under the cursor."""
        view = self.query_one(CodeView)
        return self._rows.line_of(view.cursor_line) if view.line_count else ""

    def search(self, text: str) -> int | None:
        """Search the log."""
        return self.query_one(CodeView).finder.search(text)

    def hit(self, step: int) -> bool:
        """Go to the next or the previous match; False if there is none."""
        return self.query_one(CodeView).finder.hit(step)
