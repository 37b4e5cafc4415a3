"""Other values for the tunables of the open file: chosen here, run as a grid, and the best proposed as a patch.

It runs no candidate and writes no file; `kgtui.app.jobs.tuning` does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.widgets import DataTable, Input

from engine.errors import UsageError
from kgtui.screens import Place
from kgtui.screens.base.host import Host
from kgtui.screens.base.over_workbench import ScreenOverWorkbench, workbench_of
from kgtui.screens.tune.tunables import TunablesEditor
from kgtui.screens.tune.variants import Variants
from kgtui.settings.keys import Where, bindings_of
from kgtui.state.format.lines import Line, Span, Tone, line, muted, strong
from kgtui.state.tuning.tunables import TUNABLE_COLUMNS
from kgtui.widgets.controls.ask import Ask
from kgtui.widgets.controls.bars import Bar
from kgtui.widgets.controls.too_small import TooSmall
from kgtui.widgets.tables.paged_grid import PagedGrid
from kgtui.widgets.text.toned import Grid, Lines
from kgtui.widgets.text.typed_keys import Field

if TYPE_CHECKING:
    from kgtui.screens.base.open_workbench import OpenWorkbench

PLACE = Place.OVER


def make(host: Host) -> TuneScreen:
    """The tunables of the file on the workbench.

    Raises:
        UsageError: no file is open.
    """
    return TuneScreen(workbench_of(host, otherwise="there is nothing to tune"))


class TuneScreen(ScreenOverWorkbench):
    """The grid of the workbench's saved file, over the workbench."""

    WHERE = Where.TUNE
    CSS_PATH = "../../styles/tune.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(Where.TUNE)]
    CONTROLLERS: ClassVar[Mapping[str, type[object]]] = {"variants": Variants}

    def __init__(self, workbench: OpenWorkbench) -> None:
        super().__init__(workbench)
        self.editor = TunablesEditor(self, workbench)
        self.variants = Variants(self, workbench)

    def compose(self) -> ComposeResult:
        """Create the widgets: the file, its tunables, the effect of r, the variants, the selected one, the patch."""
        yield Lines(id="banner")
        yield Lines(id="subject")
        yield Grid(TUNABLE_COLUMNS, id="tunables")
        yield Lines(id="plan")
        yield PagedGrid((), id="variants")
        yield Lines(id="variant")
        with VerticalScroll(id="patch-scroll", can_focus=False):
            yield Lines(id="patch")
        yield Field(id="values", compact=True, select_on_focus=True)
        yield Ask(id="ask")
        yield Bar(id="keys")
        yield TooSmall()

    def on_mount(self) -> None:
        """Focus the tunables; from now on the grid reports every change."""
        self.editor.entry.display = False
        self.query_one(Ask).display = False
        self.host.runs.tuning.changed = self._grid_changed
        self.set_focus(self.editor.table)
        self.draw()

    # Drawing

    def draw(self) -> None:
        """Draw what has changed."""
        self.show_trouble()
        self.query_one("#subject", Lines).show((self._subject(),))
        if not self.editor.is_current:
            self.call_later(self.editor.read)
            return
        self.editor.draw()
        self._draw_plan()
        self.variants.draw()
        grid, is_asking = self.variants.grid, self.editor.entry.display or bool(self.query_one(Ask).subject)
        has_no_variants = grid is None
        is_trying = grid is not None and grid.current is not None
        self.show_keys_but(
            {
                "write-winner": not self.variants.is_writable,
                "sort": has_no_variants,
                "other-table": has_no_variants,
            },
            labels={"leave-tuning": "stop"} if is_trying and not is_asking else {},
        )

    def _draw_plan(self) -> None:
        """Draw the variants that r would try, and the progress of the grid."""
        progress = self.variants.progress()
        self.query_one("#plan", Lines).show((*self.editor.plan(), *((progress,) if progress else ())))

    def on_resize(self) -> None:
        """Choose the columns for the new width."""
        self.call_after_refresh(self.draw)

    def workbench_changed(self) -> None:
        """Redraw, since the file may have changed, or the editor may have unsaved text."""
        self.host.runs.tuning.watch_file()
        self.draw()

    def tick(self) -> None:
        """Update the remaining time."""
        grid = self.variants.grid
        if grid is not None and grid.current is not None:
            self._draw_plan()
            self.variants.draw()

    def _subject(self) -> Line:
        bench = self._workbench.bench
        place = f"{bench.device} to {bench.target}" if bench.target else bench.device
        parts = [strong("Tune"), Span(f"  {bench.path.name}"), muted(f"  {bench.problem.name}  {place}")]
        if bench.unsaved:
            parts.append(Span("  unsaved text is not tried: ctrl+s on the workbench saves it", Tone.WARN))
        return line(*parts)

    # Actions

    async def action_choose(self) -> None:
        """Open the input for the values of the selected tunable, or show the run of the selected variant."""
        if self.focused is self.variants.table:
            self.variants.open_run()
        elif self.focused is self.editor.table:
            self.editor.edit()

    def action_try_all(self) -> None:
        """Run the unchanged file and every variant; earlier variants stay in the store, but are no longer shown."""
        if not self.editor.tunables.grid:
            self.notify(_text_of(self.editor.plan()[0]), markup=False)
            return
        try:
            self.host.runs.tuning.begin(self.editor.tunables)
        except UsageError as error:
            self.notify(str(error), severity="warning", markup=False)
            return
        self.set_focus(self.variants.table)

    def action_copy_value(self) -> None:
        """Copy the values of the selected variant, or those chosen for the selected tunable."""
        if self.focused is self.variants.table:
            tried = self.variants.selected
            self.copy_text(tried.name if tried else "")
        else:
            self.copy_text(self.editor.selected_values)

    def action_other_table(self) -> None:
        """Move the focus from the tunables to the variants, or back."""
        if not self.editor.entry.display and not self.query_one(Ask).subject:
            to_variants = self.focused is self.editor.table and self.variants.grid is not None
            self.set_focus(self.variants.table if to_variants else self.editor.table)

    def action_step_back(self) -> None:
        """Undo one step: close the question or the input, or stop the grid; then leave."""
        grid = self.variants.grid
        if self.query_one(Ask).subject:
            self.query_one(Ask).close()
            self.set_focus(self.variants.table)
        elif self.editor.entry.display:
            self.editor.leave()
        elif grid is not None and grid.current is not None:
            self.host.runs.tuning.stop()
        else:
            self.action_close()

    # Messages

    @on(Input.Submitted, "#values")
    async def _values_submitted(self, message: Input.Submitted) -> None:
        await self.editor.take(message.value)

    @on(DataTable.RowSelected)
    async def _row_selected(self) -> None:
        await self.action_choose()

    @on(PagedGrid.Moved)
    def _variant_moved(self) -> None:
        self.variants.draw_selected()

    @on(PagedGrid.Chosen)
    def _variant_chosen(self) -> None:
        self.variants.open_run()

    @on(PagedGrid.HeaderChosen)
    def _header_chosen(self, message: PagedGrid.HeaderChosen) -> None:
        self.variants.sort_by(message.column)

    def _grid_changed(self) -> None:
        grid, progress = self.variants.grid, self.variants.progress()
        if self.is_current:
            self.draw()
        elif progress is not None and grid is not None and grid.ending is not None:
            self.app.notify(f"tuning: {_text_of(progress)}", markup=False)


def _text_of(shown: Line) -> str:
    return "".join(span.text for span in shown)
