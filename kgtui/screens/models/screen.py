"""Language models: generate for the open operator, and the results of every model on every operator.

Candidates are those of the open operator.  Matrix, metrics, cost and prices cover all stored answers; they are computed
in a thread when they are shown, and again when a batch ends.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.widgets import DataTable, Input

from engine.errors import KgtuiError
from kgtui.background import in_background
from kgtui.generation.comparing.comparison import comparison_of
from kgtui.generation.display.rows import (
    COLUMNS,
    candidate_rows,
    guide_lines,
    model_lines,
    progress_lines,
    streaming_lines,
)
from kgtui.generation.display.typed import EXAMPLE
from kgtui.generation.display.views import View, runs_beside
from kgtui.generation.reports.documents import as_markdown
from kgtui.screens import Place
from kgtui.screens.base.screen import KgtuiScreen
from kgtui.screens.models.compared import ComparedModels
from kgtui.screens.models.curves import CurvesTab
from kgtui.screens.models.resuming import Resuming
from kgtui.settings.keys import Where, bindings_of
from kgtui.state.compare.sides import FEWEST, MOST
from kgtui.state.format.lines import line, muted, strong
from kgtui.widgets.controls.bars import Bar, Segment
from kgtui.widgets.controls.too_small import TooSmall
from kgtui.widgets.tables.plot_view import PlotView
from kgtui.widgets.text.toned import Grid, Lines
from kgtui.widgets.text.typed_keys import Field

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from kgtui.screens.base.host import GenerationControl, Host
    from kgtui.state.format.lines import Line

PLACE = Place.OVER
TABS = ("candidates", "matrix", "metrics", "curves", "cost", "prices")
_STREAMED = ("candidates", "matrix")
_OPENABLE = ("candidates", "matrix")
_NOTHING = line(muted("nothing was generated yet; g in the workbench generates candidates"))
_NO_FILE = "no file is open: enter on an operator opens its file, then generate"


def make(host: Host) -> ModelsScreen:
    """The models; candidates only while a file is open."""
    return ModelsScreen()


class ModelsScreen(KgtuiScreen):
    """The models, on top of the screen that opened it."""

    WHERE = Where.MODELS
    CSS_PATH = "../../styles/models.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(Where.MODELS)]
    CONTROLLERS: ClassVar[Mapping[str, type[object]]] = {"curves": CurvesTab, "resuming": Resuming}

    def __init__(self) -> None:
        super().__init__()
        self._tab = TABS[0]
        self._compared = ComparedModels()
        self.curves = CurvesTab(is_shown=lambda: self._tab == "curves", redraw=self.draw)
        self.resuming = Resuming(
            generation=lambda: self._generation, complain=partial(self.notify, severity="error", markup=False)
        )

    def compose(self) -> ComposeResult:
        """Create the widgets: the operator, the tabs, the batch, the answer in flight, one table."""
        yield Lines(id="banner")
        yield Lines(id="subject")
        yield Bar(gap=" ", id="tabs")
        yield Field(id="wanted", compact=True, placeholder=EXAMPLE)
        yield Lines(id="progress")
        yield Lines(id="streaming")
        yield Lines(id="about")
        yield Grid(COLUMNS, id="candidates")
        yield PlotView(id="curves")
        yield Bar(id="keys")
        yield TooSmall()

    def on_mount(self) -> None:
        """Show candidates while a file is open, else the matrix; the batch reports changes."""
        self._entry.display = False
        self._generation.changed = self._changed
        self._tab = TABS[0] if self._operator else "matrix"
        self.set_focus(self._table)
        self._generation.read()
        self._changed()

    def host_changed(self) -> None:
        """Redraw, since another operator may be open."""
        self._generation.read()
        self.draw()

    def draw(self) -> None:
        """Draw what has changed."""
        rows = self._generation.rows if self._operator else ()
        self.show_trouble()
        reason = "nothing generated yet" if self._operator else "no file is open; the matrix has all operators"
        hint = "" if rows or self._entry.display or self._tab != TABS[0] else f"  {reason}"
        self.query_one("#subject", Lines).show((line(strong("Models"), f"  {self._operator}", muted(hint)),))
        self.query_one("#tabs", Bar).show(tuple(_tab_segments(self._tab)))
        plot, is_plot, found = self.query_one(PlotView), self._tab == "curves", self._compared.comparison
        no_curves = not is_plot or found is None or not found.models
        self._table.display, plot.display = not is_plot, not no_curves
        if self._tab == TABS[0]:
            self._show(View(columns=COLUMNS, rows=candidate_rows(rows), about=model_lines(rows)))
        elif is_plot and found is not None:
            picture = self.curves.picture(self._compared, glyphs=self.host.glyphs)
            plot.show(picture)
            _say((picture.legend if found.models else _NOTHING,), place=self.query_one("#about", Lines))
        elif (view := self._compared.view(self._tab, self.host)) is not None:
            self._show(view)
        nothing_to_open = self._tab not in _OPENABLE or not self._table.shown
        self.show_keys_but(
            {
                "open-run": nothing_to_open,
                "generate": not self._operator,
                "resume-generation": not self.resuming.lines,
                "quantity": no_curves,
                "spent": no_curves,
            },
            labels={"leave-models": "stop generating"} if self.waits and not self._entry.display else {},
        )
        self.tick()

    def tick(self) -> None:
        """Show more of the answers in flight, and update the time."""
        progress = self._generation.progress
        is_empty = bool(
            self._operator and self._tab == TABS[0] and not self._generation.rows and not self._entry.display
        )
        lines = progress_lines(progress, now_s=self.host.clock()) or (guide_lines() if is_empty else ())
        _say((*lines, *self.resuming.lines), place=self.query_one("#progress", Lines))
        _say(streaming_lines(progress) if self._tab in _STREAMED else (), place=self.query_one("#streaming", Lines))

    @property
    def waits(self) -> bool:
        """Whether a batch is running."""
        return self._generation.progress.is_running

    # Actions

    def action_tab(self, name: str) -> None:
        """Show candidates, matrix, metrics, curves, cost or prices."""
        self._tab = name
        self.set_focus(self._table)
        self._changed()

    def action_turn_tab(self, step: int) -> None:
        """Show the next or the previous table."""
        self.action_tab(TABS[(TABS.index(self._tab) + step) % len(TABS)])

    def action_ask(self) -> None:
        """Open the input for models, strategy and budget."""
        if not self._operator:
            self.notify(_NO_FILE, markup=False)
            return
        self._entry.display = True
        self.set_focus(self._entry)
        self.draw()

    def action_open_run(self) -> None:
        """Open the run of the candidate under the cursor; in the matrix compare the models on its operator."""
        if self._tab == "matrix":
            self._compare_cell()
            return
        workbench = self.host.workbench
        row = next((one for one in self._generation.rows if str(one.id) == self._table.current), None)
        if row is None or workbench is None or self._tab != TABS[0]:
            return
        if row.run is None:
            self.notify(row.extraction or "this answer was not run yet", markup=False)
            return
        self.action_close()
        workbench.history.open(row.run.number)

    def action_copy_result(self) -> None:
        """Copy matrix and metrics as Markdown: of the open operator, or of all."""
        if self._tab == TABS[0]:
            rows = self._generation.rows
            self.copy_text(as_markdown(comparison_of(rows), title=self._operator) if rows else "")
        elif self._compared.comparison is not None:
            self.copy_text(as_markdown(self._compared.comparison, title="Models compared"))

    def action_step_back(self) -> None:
        """Close the input; else stop generating; else go back."""
        if self._entry.display:
            self._leave_entry()
        elif not self._generation.stop():
            self.action_close()

    @on(Bar.Chosen, "#tabs")
    def _tab_clicked(self, message: Bar.Chosen) -> None:
        self.action_tab(message.key)

    @on(Input.Submitted, "#wanted")
    def _wanted(self, message: Input.Submitted) -> None:
        try:
            self._generation.begin(message.value)
        except KgtuiError as error:
            self.notify(str(error), severity="error", markup=False)
            return
        self._leave_entry()

    @on(DataTable.RowSelected)
    @on(DataTable.CellSelected)
    def _selected(self) -> None:
        self.action_open_run()

    # Inside

    def _changed(self) -> None:
        """Draw, and compute the comparison if a tab that needs it is shown."""
        if self.is_current:
            self.draw()
            if self._tab != TABS[0]:
                in_background(self, self._computed, group="models compared")

    async def _computed(self) -> None:
        await self._compared.refresh(self.host)
        if self.is_drawable:
            self.draw()

    def _show(self, view: View) -> None:
        table = self._table
        table.cursor_type = "cell" if view.has_cells else "row"
        table.set_columns(view.columns)
        table.show(view.rows)
        is_empty = not view.rows and self._tab not in (TABS[0], "prices")
        about = (() if self._generation.progress.is_running else (_NOTHING,)) if is_empty else view.about
        _say(about, place=self.query_one("#about", Lines))

    def _compare_cell(self) -> None:
        """Compare the runs of the models on this operator, including that of the cell."""
        comparison, problem = self._compared.comparison, self._table.current
        if comparison is None or problem is None:
            return
        place = self._table.cursor_column - 1
        model = comparison.models[place] if 0 <= place < len(comparison.models) else comparison.models[0]
        numbers = runs_beside(comparison, problem=problem, model=model, most=MOST)
        if len(numbers) < FEWEST:
            self.notify(f"{problem} has fewer than two runs to compare", markup=False)
            return
        self.host.run_history.marked = tuple(sorted(numbers))
        self.host.action_show("compare")

    def _leave_entry(self) -> None:
        self._entry.display = False
        self.set_focus(self._table)
        self.draw()

    @property
    def _operator(self) -> str:
        """The open operator; empty while no file is open."""
        workbench = self.host.workbench
        return workbench.bench.problem.name if workbench is not None else ""

    @property
    def _generation(self) -> GenerationControl:
        return self.host.runs.generation

    @property
    def _entry(self) -> Input:
        return self.query_one("#wanted", Input)

    @property
    def _table(self) -> Grid:
        return self.query_one("#candidates", Grid)


def _tab_segments(active: str) -> Iterator[Segment]:
    """The tabs with their numbers."""
    for number, name in enumerate(TABS, start=1):
        yield Segment(key=name, line=line(f" {number} {name} "), active=name == active)


def _say(lines: tuple[Line, ...], *, place: Lines) -> None:
    """Show these lines; without any, the table gets their space."""
    place.display = bool(lines)
    place.show(lines)
