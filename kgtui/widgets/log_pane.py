"""The log tab: what the kernel printed and what the engine said, as it came."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.widget import Widget

from engine.model import Stream
from kgtui.state.run import LogLine
from kgtui.widgets.code_view import CodeView
from kgtui.widgets.pane import Pane, Scene

_PREFIXES = {Stream.STDOUT: "out ", Stream.STDERR: "err ", Stream.ENGINE: "kgtui "}


class LogPane(Pane):
    """Appends what is new; starts over with a new run."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._log: tuple[LogLine, ...] = ()

    def compose(self) -> ComposeResult:
        """The text."""
        yield CodeView(empty=" nothing was written yet; what the file prints stands here", id="log-text")

    @property
    def main(self) -> Widget:
        """The text."""
        return self.query_one(CodeView)

    def show(self, scene: Scene) -> None:
        """Draw the log of the run."""
        log, view = scene.bench.view.log, self.query_one(CodeView)
        shown = len(self._log)
        if shown > len(log) or (shown and log[shown - 1] is not self._log[-1]):
            view.show_text("", kind="log")
            shown = 0
        if len(log) > shown:
            view.append_lines([text for piece in log[shown:] for text in _texts(piece)])
        self._log = log

    def copied(self) -> str:
        """The line under the cursor."""
        return self.query_one(CodeView).current_text

    def search(self, text: str) -> int | None:
        """Search the log."""
        return self.query_one(CodeView).search(text)

    def hit(self, step: int) -> None:
        """The next or the previous match."""
        self.query_one(CodeView).hit(step)


def _texts(piece: LogLine) -> list[str]:
    return [f"{_PREFIXES[piece.stream]}{text}" for text in piece.text.splitlines()]
