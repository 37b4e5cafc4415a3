"""The findings tab: findings of the checks, each with its line."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.widget import Widget
from textual.widgets import DataTable

from engine.model import Finding
from engine.reports.run_record import RunRecord
from kgtui.state.format.lines import Line, line, muted
from kgtui.state.run.tables import FINDING_COLUMNS, finding_detail, finding_rows, findings_in_order
from kgtui.widgets.panes.base.pane import Followed, Pane, Scene
from kgtui.widgets.text.toned import Grid, Lines

ORDER = 20
TITLE = "Findings"
NO_LINE = "this finding refers to no source line; it is about the whole file or its run"


def make() -> FindingsPane:
    """The pane of one workbench."""
    return FindingsPane()


class FindingsPane(Pane):
    """The list of findings, and the selected one in full."""

    def __init__(self) -> None:
        super().__init__()
        self._scene: Scene | None = None

    def label(self, results: RunRecord, wanted: str) -> Line:
        """The number of findings."""
        return line(f"({len(results.findings)})" if results.findings else "")

    def is_stale(self, scene: Scene) -> bool:
        """Whether the findings are about an earlier version."""
        stale = scene.stale if scene.bench.view.findings else scene.outdated
        return stale and bool(scene.bench.results.findings)

    def compose(self) -> ComposeResult:
        """Create the widgets: the table over the detail."""
        yield Grid(FINDING_COLUMNS, id="findings-table")
        yield Lines(id="finding-detail")

    @property
    def main(self) -> Widget:
        """The table."""
        return self.query_one(Grid)

    @property
    def current(self) -> Finding | None:
        """The finding under the cursor."""
        key = self.query_one(Grid).current
        return findings_in_order(self._scene.bench.results)[int(key)] if key and self._scene else None

    def show(self, scene: Scene) -> None:
        """Draw the findings."""
        self._scene = scene
        bench = scene.bench
        self.query_one(Grid).show(finding_rows(bench.results, glyphs=scene.glyphs, stale=self.is_stale(scene)))
        self._show_detail()

    def follow(self) -> Followed:
        """The line of the finding."""
        found = self.current
        if found is None or found.location is not None:
            return Followed(line=found.location.line if found and found.location else None)
        return Followed(message=NO_LINE)

    def copied(self) -> str:
        """The finding as text."""
        found = self.current
        return f"{found.severity} {found.check}: {found.message}" if found else ""

    @on(DataTable.RowHighlighted)
    def _row_highlighted(self) -> None:
        self._show_detail()

    def _show_detail(self) -> None:
        found, detail = self.current, self.query_one(Lines)
        if found:
            detail.show(finding_detail(found))
        elif self._scene and self._scene.bench.view.verdict:
            detail.show((line(muted("no findings")),))
        else:
            detail.show((line(muted("no findings yet; r runs the file")),))
