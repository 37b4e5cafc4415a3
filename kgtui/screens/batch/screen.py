"""Batches of candidates: begin or resume one, watch results arrive, open the run of a row."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widgets import DataTable, Input

from engine.errors import KgtuiError
from kgtui.batches.documents import as_markdown
from kgtui.batches.lines import ending_text
from kgtui.batches.results import CandidateResult
from kgtui.batches.rows import COLUMNS, guide_lines, progress_lines, result_rows
from kgtui.batches.typed import EXAMPLE
from kgtui.screens import Place
from kgtui.screens.base.host import Host
from kgtui.screens.base.screen import KgtuiScreen
from kgtui.settings.keys import Where, bindings_of
from kgtui.state.format.glyphs import ASCII
from kgtui.state.format.lines import Line, line, muted, strong
from kgtui.widgets.controls.bars import Bar
from kgtui.widgets.controls.too_small import TooSmall
from kgtui.widgets.text.toned import Grid, Lines
from kgtui.widgets.text.typed_keys import Field

PLACE = Place.OVER
_TICKS_PER_READ = 10  # interval of polling a batch of another process


def make(host: Host) -> BatchScreen:
    """The screen; without a batch it has a message."""
    return BatchScreen()


class BatchScreen(KgtuiScreen):
    """The batch, over the screen that opened it."""

    WHERE = Where.BATCH
    CSS_PATH = "../../styles/batch.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(Where.BATCH)]

    def __init__(self) -> None:
        super().__init__()
        self._failed_only = False
        self._ticks = 0

    def compose(self) -> ComposeResult:
        """Create the widgets: the batch, its progress, every candidate."""
        yield Lines(id="banner")
        yield Lines(id="subject")
        yield Field(id="wanted", compact=True, placeholder=EXAMPLE)
        yield Lines(id="progress")
        yield Grid(COLUMNS, id="results")
        yield Lines(id="reason")
        yield Bar(id="keys")
        yield TooSmall()

    def on_mount(self) -> None:
        """Read the stored batch; from now on the batch reports changes."""
        self._entry.display = False
        self.host.runs.batch.changed = self._changed
        self.host.runs.batch.read()
        self.set_focus(self._table)
        self.draw()

    def draw(self) -> None:
        """Draw what has changed."""
        batch = self.host.runs.batch
        self.show_trouble()
        self.query_one("#subject", Lines).show((self._subject(),))
        running = batch.progress.running if batch.progress is not None else ()
        self._table.show(result_rows(batch.results, running=running, failed_only=self._failed_only))
        left = any(not result.row.is_done for result in batch.results)
        self.show_keys_but({
            "open-run": not batch.results, "resume-batch": batch.is_running or not left,
            "failed-candidates": not batch.results,
        }, labels={"leave-batch": "stop"} if batch.is_running and not self._entry.display else {})  # fmt: skip
        self._show_reason()
        self._show_progress()

    def tick(self) -> None:
        """Update the remaining time; read the batch of another process again."""
        self._show_progress()
        self._ticks += 1
        if self._follows_another and self._ticks % _TICKS_PER_READ == 0:
            self.host.runs.batch.read()

    @property
    def waits(self) -> bool:
        """Whether a batch is running, here or in another process."""
        return self.host.runs.batch.is_running or self._follows_another

    # Actions

    def action_ask(self) -> None:
        """Open the input for the candidates."""
        self._entry.display = True
        self.set_focus(self._entry)
        self.draw()

    def action_resume(self) -> None:
        """Run the rest of the shown batch."""
        try:
            self.host.runs.batch.resume()
        except KgtuiError as error:
            self.notify(str(error), severity="error", markup=False)

    def action_step(self, by: int) -> None:
        """Show an older or a newer batch."""
        self.host.runs.batch.step(by)

    def action_failed(self) -> None:
        """Show only candidates that did not pass, or all again."""
        self._failed_only = not self._failed_only
        self.draw()

    def action_open_run(self) -> None:
        """Open the run of the candidate under the cursor: with its source and results."""
        result = self._current
        if result is None:
            return
        if result.run is None or result.run.outcome is None:
            self.notify(result.explanation or "this candidate was not run yet", markup=False)
            return
        problem = self.host.problem_named(result.problem)
        if problem is None:
            return
        row, name = self.host.runs.batch.row, result.row.candidate.name
        path = Path(row.candidates_path) / name if row is not None else Path(name)
        is_file = path.suffix == ".py" and path.is_file()
        if self.host.workbench is None:
            if not is_file:
                self.notify("no file is open; enter on an operator opens its file, then enter here", markup=False)
                return
            self.host.open_file(problem, path)
        else:
            self.host.action_show("workbench")
        if self.host.workbench is not None:
            self.host.workbench.history.open(
                result.run.number, problem=problem, path=path if is_file else None, filename=name
            )

    def action_copy_result(self) -> None:
        """Copy the summary and every result as Markdown."""
        batch = self.host.runs.batch
        title = f"Batch {batch.row.id}" if batch.row is not None else "Batch"
        self.copy_text(as_markdown(batch.results, title=title) if batch.results else "")

    def action_step_back(self) -> None:
        """Stop typing; else stop the batch; else go back."""
        if self._entry.display:
            self._leave_entry()
        elif not self.host.runs.batch.stop():
            self.action_close()

    @on(Input.Submitted, "#wanted")
    def _wanted(self, message: Input.Submitted) -> None:
        try:
            self.host.runs.batch.begin(message.value)
        except KgtuiError as error:
            self.notify(str(error), severity="error", markup=False)
            return
        self._leave_entry()

    @on(DataTable.RowSelected)
    def _row_selected(self) -> None:
        self.action_open_run()

    @on(DataTable.RowHighlighted)
    def _row_highlighted(self) -> None:
        self._show_reason()

    # Inside

    def _subject(self) -> Line:
        row = self.host.runs.batch.row
        if row is None:
            hint = "" if self.host.runs.batch.is_running or self._entry.display else "  no batch yet"
            return line(strong("Batch"), muted(hint))
        shown = "  failed only" if self._failed_only else ""
        where = f", running in process {row.pid}" if self._follows_another else ""
        return line(
            strong(f"Batch {row.id}"),
            f"  {row.candidates_path}",
            muted(f"  {row.started_at:%Y-%m-%d %H:%M}{where}{shown}"),
        )

    def _show_progress(self) -> None:
        batch = self.host.runs.batch
        lines: tuple[Line, ...]
        if batch.progress is not None:
            signs = "#." if self.host.glyphs is ASCII else "█░"
            lines = progress_lines(batch.progress, batch.results, now_s=self.host.clock(), signs=signs)
        elif batch.row is not None:
            text = ending_text(batch.row.id, batch.results, is_running=self._follows_another)
            lines = (line(strong(text)),)
        else:
            lines = () if self._entry.display else guide_lines()
        self.query_one("#progress", Lines).show(lines)

    def _show_reason(self) -> None:
        """The whole sentence of the row under the cursor, which a narrow table cuts."""
        result = self._current
        self.query_one("#reason", Lines).show((line(result.explanation if result is not None else ""),))

    def _changed(self) -> None:
        if self.is_current:
            self.draw()

    def _leave_entry(self) -> None:
        self._entry.display = False
        self.set_focus(self._table)
        self.draw()

    @property
    def _follows_another(self) -> bool:
        batch = self.host.runs.batch
        return batch.row is not None and batch.row.pid is not None and not batch.is_running

    @property
    def _current(self) -> CandidateResult | None:
        current = self._table.current
        return next((one for one in self.host.runs.batch.results if str(one.row.place) == current), None)

    @property
    def _entry(self) -> Input:
        return self.query_one("#wanted", Input)

    @property
    def _table(self) -> Grid:
        return self.query_one("#results", Grid)
