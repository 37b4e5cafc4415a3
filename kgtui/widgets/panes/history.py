"""The history tab: the earlier runs of this operator; enter opens one."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.widget import Widget

from kgtui.state.format.lines import line, muted
from kgtui.state.run.tables import HISTORY_COLUMNS, history_rows
from kgtui.widgets.panes.base.pane import Followed, Pane, Scene
from kgtui.widgets.text.toned import Grid, Lines

ORDER = 50
TITLE = "History"


def make() -> HistoryPane:
    """The pane of one workbench."""
    return HistoryPane()


class HistoryPane(Pane):
    """The runs of this operator in the store, newest first."""

    def compose(self) -> ComposeResult:
        """Create the widgets: the table, and a line for an empty one."""
        yield Grid(HISTORY_COLUMNS, id="history-table")
        yield Lines(id="history-note")

    @property
    def main(self) -> Widget:
        """The table."""
        return self.query_one(Grid)

    @property
    def current(self) -> int | None:
        """The number of the run under the cursor."""
        key = self.query_one(Grid).current
        return int(key) if key else None

    def show(self, scene: Scene) -> None:
        """Draw the runs."""
        rows = history_rows(
            scene.runs, glyphs=scene.glyphs, now=scene.now, current=scene.bench.shown.number, marked=scene.marked
        )
        self.query_one(Grid).show(rows)
        keys = "enter opens it read-only; space marks, c compares"
        self.query_one(Lines).show((line(muted(keys if rows else "no saved run yet; each save starts one")),))

    def follow(self) -> Followed:
        """The run under the cursor."""
        return Followed(run=self.current)

    def copied(self) -> str:
        """The number of the run."""
        return f"#{self.current}" if self.current else ""
