"""The variants that were run: their table, the selected one, and the patch of the best."""

from __future__ import annotations

from engine.errors import KgtuiError
from kgtui.screens.base.open_workbench import OpenWorkbench
from kgtui.screens.base.screen import KgtuiScreen
from kgtui.state.format.lines import Line
from kgtui.state.tuning.grid import Tried, VariantGrid, progress_line, proposal_lines, tried_detail, tuning_markdown
from kgtui.state.tuning.variant_table import Sorting, TrialColumn, drawn_columns, trial_columns, trial_rows
from kgtui.widgets.controls.ask import Answer, Ask
from kgtui.widgets.tables.paged_grid import PagedGrid
from kgtui.widgets.text.toned import Lines

_WRITE = "write"
_MARGIN = 3  # the padding of a table, and its scroll bar


class Variants:
    """The table of variants and its sort order."""

    def __init__(self, screen: KgtuiScreen, workbench: OpenWorkbench) -> None:
        self._screen = screen
        self._workbench = workbench
        self._sorting = Sorting()
        self._proposed: VariantGrid | None = None

    @property
    def table(self) -> PagedGrid:
        """The table of the variants."""
        return self._screen.query_one("#variants", PagedGrid)

    @property
    def grid(self) -> VariantGrid | None:
        """The grid, if it is of the open file."""
        grid, bench = self._screen.host.runs.tuning.grid, self._workbench.bench
        return grid if grid is not None and grid.path == bench.path else None

    @property
    def selected(self) -> Tried | None:
        """The variant under the cursor, if it was run."""
        grid, key = self.grid, self.table.current
        place = int(key) if key is not None else None
        return grid.tried[place] if grid and place is not None and place < len(grid.tried) else None

    @property
    def is_writable(self) -> bool:
        """Whether there is a best variant that is not written yet."""
        grid = self.grid
        return grid is not None and grid.winner is not None and grid.ending is not None and not grid.is_written

    def progress(self) -> Line | None:
        """Progress and result of the grid; None without a grid."""
        grid, host = self.grid, self._screen.host
        if grid is None:
            return None
        return progress_line(grid, now_s=host.clock(), glyphs=host.glyphs, stale=self._is_stale(grid))

    def draw(self) -> None:
        """Draw the table, the variant under the cursor, and the patch of the best."""
        grid = self.grid
        self._screen.set_class(grid is None, "-untried")
        if grid is None:
            self.table.show((), ())
            self.draw_selected()
            self._draw_patch(None)
            return
        columns, stale = self._columns(grid), self._is_stale(grid)
        rows = trial_rows(grid, columns, self._sorting, glyphs=self._screen.host.glyphs, stale=stale)
        self.table.show(rows, drawn_columns(columns, self._sorting))
        self.draw_selected()
        self._draw_patch(None if stale or grid.winner is None else grid)

    def draw_selected(self) -> None:
        """Draw the details of the variant under the cursor."""
        grid, tried = self.grid, self.selected
        self._screen.query_one("#variant", Lines).show(
            tried_detail(tried, grid, glyphs=self._screen.host.glyphs) if grid and tried else ()
        )

    def action_sort(self) -> None:
        """Sort by the next column."""
        if (grid := self.grid) is not None:
            self._sorting = self._sorting.after(self._columns(grid))
            self._screen.draw()

    def action_reverse(self) -> None:
        """Reverse the sort order."""
        self._sorting = self._sorting.on(self._sorting.by)
        self._screen.draw()

    def sort_by(self, column: int) -> None:
        """Sort by the column of this index, or reverse the order if it is already that one."""
        if (grid := self.grid) is not None:
            self._sorting = self._sorting.on(self._columns(grid)[column].id)
            self._screen.draw()

    def action_copy_result(self) -> None:
        """Copy all variants as Markdown."""
        grid = self.grid
        if grid is None:
            self._screen.copy_text("")
            return
        columns = self._columns(grid)
        rows = trial_rows(grid, columns, self._sorting, glyphs=self._screen.host.glyphs, stale=False)
        cells = [[cell.text for cell in row.cells] for row in rows]
        self._screen.copy_text(tuning_markdown(grid, [column.label for column in columns], cells))

    def action_write(self) -> None:
        """Ask whether to write the best variant."""
        grid = self.grid
        if grid is None or grid.winner is None or grid.ending is None:
            why = "nothing was tried yet; r tries the variants" if grid is None else grid.why_none
            self._screen.notify(why or "the variants are still being tried", markup=False)
        elif not grid.is_written:
            question = f"Write {grid.winner.name} into {grid.path.name}?"
            answers = (Answer(key="y", label="write it"),)
            self._screen.query_one(Ask).ask(_WRITE, question, answers, answered=self._write)

    def open_run(self) -> None:
        """Show the run of the selected variant on the workbench."""
        tried = self.selected
        if tried is None:
            self._screen.notify("this variant has no verdict yet", markup=False)
        elif tried.trial.run.number is None:
            self._screen.notify("this run was not saved, so it cannot be opened", markup=False)
        else:
            self._screen.action_close()
            self._workbench.history.open(tried.trial.run.number, path=self._workbench.bench.path)

    def _write(self, key: str) -> None:
        self._screen.set_focus(self.table)
        try:
            self._screen.notify(self._screen.host.runs.tuning.write(), markup=False)
        except KgtuiError as error:
            self._screen.notify(str(error), severity="error", markup=False)

    def _draw_patch(self, grid: VariantGrid | None) -> None:
        if grid is not self._proposed:
            self._proposed = grid
            self._screen.query_one("#patch", Lines).show(proposal_lines(grid) if grid else ())
        self._screen.set_class(grid is not None, "-proposed")

    def _is_stale(self, grid: VariantGrid) -> bool:
        return grid.source != self._workbench.bench.saved

    def _columns(self, grid: VariantGrid) -> tuple[TrialColumn, ...]:
        timed = self._workbench.bench.can_time
        room = self._screen.size.width - _MARGIN
        return trial_columns(grid, timed=timed, room=room, glyphs=self._screen.host.glyphs)
