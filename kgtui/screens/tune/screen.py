"""Other values of what the open file fixes: chosen here, tried as a grid, and the winner proposed as a patch.

It judges nothing and writes nothing itself: `kgtui.app.tuning` does, when it is asked to.  The values that were
chosen, and how the table is sorted, are all that it keeps.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.widgets import DataTable, Input

from engine.errors import KgtuiError, UsageError
from kgtui.screens import Place
from kgtui.screens.base.host import Host
from kgtui.screens.base.screen import KgtuiScreen
from kgtui.settings.keys import Where, bindings_of
from kgtui.state.format.lines import Line, Span, Tone, line, muted, strong
from kgtui.state.tuning.grid import Tried, VariantGrid, progress_line, proposal_lines, tried_detail, tuning_markdown
from kgtui.state.tuning.tunables import (
    LIST,
    TUNABLE_COLUMNS,
    Tunables,
    grid_line,
    nothing_found,
    parse_values,
    tunable_rows,
    tunables_in,
    usual_values,
    written,
)
from kgtui.state.tuning.variant_table import Sorting, TrialColumn, drawn_columns, trial_columns, trial_rows
from kgtui.widgets.controls.ask import Answer, Ask
from kgtui.widgets.controls.bars import Bar
from kgtui.widgets.controls.too_small import TooSmall
from kgtui.widgets.tables.paged_grid import PagedGrid
from kgtui.widgets.text.toned import Grid, Lines

if TYPE_CHECKING:
    from kgtui.screens.base.open_workbench import OpenWorkbench

PLACE = Place.OVER

_WRITE = "write"
_MARGIN = 3  # the padding of a table, and its scroll bar


def make(host: Host) -> TuneScreen:
    """The knobs of the file on the workbench.

    Raises:
        UsageError: no file is open.
    """
    if host.workbench is None:
        raise UsageError("no file is open, so there is nothing to tune; enter on an operator opens its file")
    return TuneScreen(host.workbench)


class TuneScreen(KgtuiScreen):
    """Lies over the workbench, whose saved file it is about."""

    WHERE = Where.TUNE
    CSS_PATH = "../../styles/tune.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(Where.TUNE)]

    def __init__(self, workbench: OpenWorkbench) -> None:
        super().__init__()
        self._workbench = workbench
        self._tunables = Tunables(source=b"")
        self._sorting = Sorting()
        self._edited: str | None = None
        self._proposed: VariantGrid | None = None

    def compose(self) -> ComposeResult:
        """Whose knobs, the knobs, what r does, the variants, the one under the cursor, the patch."""
        yield Lines(id="banner")
        yield Lines(id="subject")
        yield Grid(TUNABLE_COLUMNS, id="knobs")
        yield Lines(id="plan")
        yield PagedGrid((), id="variants")
        yield Lines(id="variant")
        with VerticalScroll(id="patch-scroll", can_focus=False):
            yield Lines(id="patch")
        yield Input(id="values", compact=True, select_on_focus=True)
        yield Ask(id="ask")
        yield Bar(id="keys")
        yield TooSmall()

    def on_mount(self) -> None:
        """Begin at the knobs; from here on the grid tells what comes of it."""
        self._entry.display = False
        self.query_one(Ask).display = False
        self.host.tuning.changed = self._grid_changed
        self.set_focus(self._knob_table)
        self.draw()

    # Drawing

    def draw(self) -> None:
        """Draw what has changed."""
        self.show_trouble()
        self.query_one("#subject", Lines).show((self._subject(),))
        if self._workbench.bench.saved != self._tunables.source:
            self.call_later(self._read_knobs)
            return
        self._knob_table.show(tunable_rows(self._tunables, glyphs=self.host.glyphs))
        self.set_class(not self._tunables.has_any, "-empty")
        self._draw_plan()
        self._draw_variants()
        grid = self._grid
        is_writable = grid is not None and grid.winner is not None and grid.ending is not None and not grid.is_written
        no_variants = grid is None
        self.show_keys_but({"write-winner": not is_writable, "sort": no_variants, "other-table": no_variants})

    def on_resize(self) -> None:
        """Other columns may have room."""
        self.call_after_refresh(self.draw)

    def workbench_changed(self) -> None:
        """The file may have another text, or the editor some that is not saved."""
        self.host.tuning.watch_file()
        self.draw()

    def tick(self) -> None:
        """Let the time that is left go on."""
        grid = self._grid
        if grid is not None and grid.current is not None:
            self._draw_plan()
            self._draw_variants()

    def _draw_plan(self) -> None:
        grid, glyphs = self._grid, self.host.glyphs
        lines = [self._plan_line()] if self._tunables.has_any else [*nothing_found(self._tunables)]
        if grid is not None:
            now_s = self.host.clock()
            lines.append(progress_line(grid, now_s=now_s, glyphs=glyphs, stale=self._is_stale(grid)))
        self.query_one("#plan", Lines).show(tuple(lines))

    def _draw_variants(self) -> None:
        grid, glyphs, table = self._grid, self.host.glyphs, self._variant_table
        self.set_class(grid is None, "-untried")
        if grid is None:
            table.show((), ())
            self.query_one("#variant", Lines).show(())
            self._draw_patch(None)
            return
        columns, stale = self._columns(grid), self._is_stale(grid)
        rows = trial_rows(grid, columns, self._sorting, glyphs=glyphs, stale=stale)
        table.show(rows, drawn_columns(columns, self._sorting))
        self._draw_variant()
        self._draw_patch(None if stale or grid.winner is None else grid)

    def _draw_variant(self) -> None:
        grid, tried = self._grid, self._tried
        self.query_one("#variant", Lines).show(
            tried_detail(tried, grid, glyphs=self.host.glyphs) if grid and tried else ()
        )

    def _draw_patch(self, grid: VariantGrid | None) -> None:
        if grid is not self._proposed:
            self._proposed = grid
            self.query_one("#patch", Lines).show(proposal_lines(grid) if grid else ())
        self.set_class(grid is not None, "-proposed")

    def _plan_line(self) -> Line:
        if self._entry.display:
            return line(f"values of {self._edited}, such as 4, 8; none: as it is; enter takes them")
        return grid_line(self._tunables, timed=self._workbench.bench.benchmark is not None)

    def _subject(self) -> Line:
        bench = self._workbench.bench
        place = f"{bench.device} to {bench.target}" if bench.target else bench.device
        parts = [strong("Tune"), Span(f"  {bench.path.name}"), muted(f"  {bench.problem.name}  {place}")]
        if bench.unsaved:
            parts.append(Span("  unsaved text is not tried: ctrl+s on the workbench saves it", Tone.WARN))
        return line(*parts)

    # Actions

    async def action_choose(self) -> None:
        """Type the values of the knob under the cursor, or look at the run of the variant under it."""
        if self.focused is self._variant_table:
            self._open_run()
        elif self.focused is self._knob_table:
            self._edit(self._knob_table.current)

    def action_try_all(self) -> None:
        """Try the file as it is and every variant; what was tried before is shown no more, but kept."""
        if not self._tunables.grid:
            first = self._plan_line() if self._tunables.has_any else nothing_found(self._tunables)[0]
            self.notify(_text_of(first), markup=False)
            return
        try:
            self.host.tuning.begin(self._tunables)
        except UsageError as error:
            self.notify(str(error), severity="warning", markup=False)
            return
        self.set_focus(self._variant_table)

    def action_sort(self) -> None:
        """By the next column."""
        if self._grid is not None:
            self._sorting = self._sorting.after(self._columns(self._grid))
            self.draw()

    def action_reverse(self) -> None:
        """The other way round."""
        self._sorting = self._sorting.on(self._sorting.by)
        self.draw()

    def action_write(self) -> None:
        """Ask whether the winner is to be written."""
        grid = self._grid
        if grid is None or grid.winner is None or grid.ending is None:
            why = "nothing was tried yet; r tries the variants" if grid is None else grid.why_none
            self.notify(why or "the variants are still being tried", markup=False)
        elif not grid.is_written:
            question = f"Write {grid.winner.name} into {grid.path.name}?"
            answers = (Answer(key="y", label="write it"),)
            self.query_one(Ask).ask(_WRITE, question, answers, answered=self._answered)

    def action_copy_value(self) -> None:
        """Copy the values of the variant under the cursor, or those to try of the knob."""
        tried = self._tried
        if self.focused is self._variant_table:
            self.copy_text(tried.name if tried else "")
        else:
            self.copy_text(written(self._tunables.chosen.get(self._knob_table.current or "", ())))

    def action_copy_result(self) -> None:
        """Copy all that was tried as Markdown."""
        grid = self._grid
        if grid is None:
            self.copy_text("")
            return
        columns = self._columns(grid)
        rows = trial_rows(grid, columns, self._sorting, glyphs=self.host.glyphs, stale=False)
        cells = [[cell.text for cell in row.cells] for row in rows]
        self.copy_text(tuning_markdown(grid, [column.label for column in columns], cells))

    def action_other_table(self) -> None:
        """From the knobs to the variants, or back."""
        if not self._entry.display and not self.query_one(Ask).subject:
            knobs_are_focused = self.focused is self._knob_table
            self.set_focus(self._variant_table if knobs_are_focused and self._grid else self._knob_table)

    def action_step_back(self) -> None:
        """Undo one thing: the question, the typing, the trying; then leave."""
        grid = self._grid
        if self.query_one(Ask).subject:
            self.query_one(Ask).close()
            self.set_focus(self._variant_table)
        elif self._entry.display:
            self._leave_entry()
        elif grid is not None and grid.current is not None:
            self.host.tuning.stop()
        else:
            self.action_close()

    # Messages

    @on(Input.Submitted, "#values")
    async def _values_submitted(self, message: Input.Submitted) -> None:
        try:
            values = parse_values(message.value)
        except UsageError as error:
            self.notify(str(error), severity="error", markup=False)
            return
        chosen: Mapping[str, tuple[int, ...]] = {
            **{name: known for name, known in self._tunables.chosen.items() if name != self._edited},
            **({self._edited: values} if self._edited is not None and values else {}),
        }
        self._leave_entry()
        await self._turn_knobs(self._tunables.source, chosen)

    def _answered(self, key: str) -> None:
        self.set_focus(self._variant_table)
        try:
            self.notify(self.host.tuning.write(), markup=False)
        except KgtuiError as error:
            self.notify(str(error), severity="error", markup=False)

    @on(DataTable.RowSelected)
    async def _row_selected(self) -> None:
        await self.action_choose()

    @on(PagedGrid.Moved)
    def _variant_moved(self) -> None:
        self._draw_variant()

    @on(PagedGrid.Chosen)
    def _variant_chosen(self) -> None:
        self._open_run()

    @on(PagedGrid.HeaderChosen)
    def _header_chosen(self, message: PagedGrid.HeaderChosen) -> None:
        if self._grid is not None:
            self._sorting = self._sorting.on(self._columns(self._grid)[message.column].id)
            self.draw()

    # Inside

    async def _read_knobs(self) -> None:
        source = self._workbench.bench.saved
        if source != self._tunables.source:
            await self._turn_knobs(source, self._tunables.chosen)

    async def _turn_knobs(self, source: bytes, chosen: Mapping[str, tuple[int, ...]]) -> None:
        """Read in a thread what there is to turn; keys that are pressed meanwhile wait, and nobody else does."""
        self._tunables = await asyncio.to_thread(tunables_in, source, chosen=chosen)
        if self.query("#plan"):  # or else the screen was taken down meanwhile
            self.draw()

    @property
    def _knob_table(self) -> Grid:
        return self.query_one("#knobs", Grid)

    @property
    def _variant_table(self) -> PagedGrid:
        return self.query_one("#variants", PagedGrid)

    @property
    def _entry(self) -> Input:
        return self.query_one("#values", Input)

    @property
    def _grid(self) -> VariantGrid | None:
        """The grid, if it is one of the file that is open."""
        grid, bench = self.host.tuning.grid, self._workbench.bench
        return grid if grid is not None and grid.path == bench.path else None

    @property
    def _tried(self) -> Tried | None:
        """The variant under the cursor, if it was tried."""
        grid, key = self._grid, self._variant_table.current
        place = int(key) if key is not None else None
        return grid.tried[place] if grid and place is not None and place < len(grid.tried) else None

    def _is_stale(self, grid: VariantGrid) -> bool:
        return grid.source != self._workbench.bench.saved

    def _columns(self, grid: VariantGrid) -> tuple[TrialColumn, ...]:
        timed = self._workbench.bench.can_time
        return trial_columns(grid, timed=timed, room=self.size.width - _MARGIN, glyphs=self.host.glyphs)

    def _grid_changed(self) -> None:
        grid = self._grid
        if self.is_current:
            self.draw()
        elif grid is not None and grid.ending is not None:
            stale = self._is_stale(grid)
            told = progress_line(grid, now_s=self.host.clock(), glyphs=self.host.glyphs, stale=stale)
            self.app.notify(f"tuning: {_text_of(told)}", markup=False)

    def _edit(self, name: str | None) -> None:
        tunable = next((one for one in self._tunables.tunables if one.name == name), None)
        if tunable is None:
            words = (
                "its entries are tried as they are; change them in the file" if name == LIST else "nothing to choose"
            )
            self.notify(words, markup=False)
            return
        self._edited = tunable.name
        known = self._tunables.chosen.get(tunable.name)
        self._entry.value = written(known) if known else usual_values(tunable)
        self._entry.display = True
        self.set_focus(self._entry)
        self._draw_plan()

    def _leave_entry(self) -> None:
        self._entry.display = False
        self.set_focus(self._knob_table)
        self._draw_plan()

    def _open_run(self) -> None:
        tried = self._tried
        if tried is None:
            self.notify("this variant has no verdict yet", markup=False)
        elif tried.trial.run.number is None:
            self.notify("this run was not kept, so it cannot be opened", markup=False)
        else:
            self.action_close()
            self._workbench.history.open(tried.trial.run.number)


def _text_of(shown: Line) -> str:
    return "".join(span.text for span in shown)
