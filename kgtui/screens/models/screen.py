"""Language models on the open operator: start a batch, watch answers and cost arrive, open a candidate's run."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widgets import DataTable, Input

from engine.errors import KgtuiError, UsageError
from kgtui.generation.comparing.comparison import comparison_of
from kgtui.generation.reports.documents import as_markdown
from kgtui.generation.rows import COLUMNS, candidate_rows, guide_lines, model_lines, progress_lines, streaming_lines
from kgtui.generation.typed import EXAMPLE
from kgtui.screens import Place
from kgtui.screens.base.host import Host
from kgtui.screens.base.screen import KgtuiScreen
from kgtui.settings.keys import Where, bindings_of
from kgtui.state.format.lines import line, muted, strong
from kgtui.widgets.controls.bars import Bar
from kgtui.widgets.controls.too_small import TooSmall
from kgtui.widgets.text.toned import Grid, Lines

if TYPE_CHECKING:
    from kgtui.screens.base.open_workbench import OpenWorkbench

PLACE = Place.OVER


def make(host: Host) -> ModelsScreen:
    """The models on the open operator.

    Raises:
        UsageError: no file is open.
    """
    if host.workbench is None:
        raise UsageError("no file is open; enter on an operator opens its file, then L generates for it")
    return ModelsScreen(host.workbench)


class ModelsScreen(KgtuiScreen):
    """Lies over the workbench, whose operator it is about."""

    WHERE = Where.MODELS
    CSS_PATH = "../../styles/models.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(Where.MODELS)]

    def __init__(self, workbench: OpenWorkbench) -> None:
        super().__init__()
        self._workbench = workbench

    def compose(self) -> ComposeResult:
        """The operator, the batch, the answer in flight, what each model came to, every candidate."""
        yield Lines(id="banner")
        yield Lines(id="subject")
        yield Input(id="wanted", compact=True, placeholder=EXAMPLE)
        yield Lines(id="progress")
        yield Lines(id="streaming")
        yield Lines(id="by-model")
        yield Grid(COLUMNS, id="candidates")
        yield Bar(id="keys")
        yield TooSmall()

    def on_mount(self) -> None:
        """Read what is stored; from here on the batch reports what changes."""
        self._entry.display = False
        self.host.runs.generation.changed = self._changed
        self.host.runs.generation.read()
        self.set_focus(self._table)
        self.draw()

    def host_changed(self) -> None:
        """Another operator may be open."""
        self.host.runs.generation.read()
        self.draw()

    def draw(self) -> None:
        """Draw what has changed."""
        generation = self.host.runs.generation
        self.show_trouble()
        problem = self._workbench.bench.problem.name
        hint = "" if generation.rows or self._entry.display else "  nothing generated yet"
        self.query_one("#subject", Lines).show((line(strong("Models"), f"  {problem}", muted(hint)),))
        self.query_one("#by-model", Lines).show(model_lines(generation.rows))
        self._table.show(candidate_rows(generation.rows))
        self.show_keys_but({"open-run": not generation.rows})
        self.tick()

    def tick(self) -> None:
        """Show more of the answers in flight, and let the time go on."""
        generation = self.host.runs.generation
        progress, is_empty = generation.progress, not generation.rows and not self._entry.display
        lines = progress_lines(progress, now_s=self.host.clock()) or (guide_lines() if is_empty else ())
        self.query_one("#progress", Lines).show(lines)
        self.query_one("#streaming", Lines).show(streaming_lines(progress))

    @property
    def waits(self) -> bool:
        """Whether a batch is running."""
        return self.host.runs.generation.progress.is_running

    # Actions

    def action_ask(self) -> None:
        """Type models, strategy and budget."""
        self._entry.display = True
        self.set_focus(self._entry)
        self.draw()

    def action_open_run(self) -> None:
        """Open the run of the candidate under the cursor: its source and results, as every past run."""
        row = next((one for one in self.host.runs.generation.rows if str(one.id) == self._table.current), None)
        if row is None:
            return
        if row.run is None:
            self.notify(row.extraction or "this answer was not run yet", markup=False)
            return
        self.action_close()
        self._workbench.history.open(row.run.number)

    def action_copy_result(self) -> None:
        """Copy matrix and metrics as Markdown."""
        rows = self.host.runs.generation.rows
        self.copy_text(as_markdown(comparison_of(rows), title=self._workbench.bench.problem.name) if rows else "")

    def action_step_back(self) -> None:
        """Stop typing; else stop generating; else go back."""
        if self._entry.display:
            self._leave_entry()
        elif not self.host.runs.generation.stop():
            self.action_close()

    @on(Input.Submitted, "#wanted")
    def _wanted(self, message: Input.Submitted) -> None:
        try:
            self.host.runs.generation.begin(message.value)
        except KgtuiError as error:
            self.notify(str(error), severity="error", markup=False)
            return
        self._leave_entry()

    @on(DataTable.RowSelected)
    def _row_selected(self) -> None:
        self.action_open_run()

    # Inside

    def _changed(self) -> None:
        if self.is_current:
            self.draw()

    def _leave_entry(self) -> None:
        self._entry.display = False
        self.set_focus(self._table)
        self.draw()

    @property
    def _entry(self) -> Input:
        return self.query_one("#wanted", Input)

    @property
    def _table(self) -> Grid:
        return self.query_one("#candidates", Grid)
