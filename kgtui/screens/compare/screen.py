"""Two to four runs side by side: their sources, cases, times, resources, findings and cost.

It reads the marked runs, or the best and the current one, from the store, and draws their comparison.  On a device that
can be timed, it has the workbench measure two of them alternately.
"""

from __future__ import annotations

import asyncio
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.widgets import DataTable

from engine.errors import UsageError
from engine.model import Candidate
from kgtui.background import in_background
from kgtui.ports.requests import RunRequest
from kgtui.screens import Place
from kgtui.screens.base.host import Host
from kgtui.screens.base.screen import KgtuiScreen
from kgtui.screens.compare.choosing import choice_of, side_of, why_not_measured
from kgtui.settings.keys import Where, bindings_of
from kgtui.state.compare.report import as_markdown
from kgtui.state.compare.sides import FEWEST, Choice, Side, require_one_operator
from kgtui.state.compare.view import TABS, Comparison, SourceView, comparison_of, source_view
from kgtui.state.format.lines import Span, Tone, line, muted
from kgtui.widgets.controls.bars import Bar, Segment, Strip
from kgtui.widgets.controls.too_small import TooSmall
from kgtui.widgets.text.side_by_side import SideBySide
from kgtui.widgets.text.toned import Grid, Lines

PLACE = Place.OVER
_BEGUN = tuple[int | None, bool]


def make(host: Host) -> CompareScreen:
    """The marked runs, or the best against the current one; with fewer than two it shows a message.

    Raises:
        UsageError: no file is open and no two runs are marked.
    """
    if host.workbench is None and len(host.run_history.marked) < FEWEST:
        raise UsageError("no file is open, so no run is the current one; mark two runs in the history with space")
    return CompareScreen(host)


class CompareScreen(KgtuiScreen):
    """Comparison of runs; reads them again when the screen is shown."""

    WHERE = Where.COMPARE
    CSS_PATH = "../../styles/compare.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(Where.COMPARE)]

    def __init__(self, host: Host) -> None:
        super().__init__()
        self._tab = "source"
        self._turned = 0
        self._marked: tuple[int, ...] = ()
        self._wanted: Choice | None = None
        self._why = "reading the runs"
        self._measuring: int | None = None
        self._seen: _BEGUN = (None, False)
        self._comparison: Comparison | None = None
        self._source: SourceView | None = None

    def compose(self) -> ComposeResult:
        """Create the widgets: the sides, the tabs, the sources or a table with details of its row."""
        yield Lines(id="banner")
        yield Strip(id="sides")
        yield Bar(gap=" ", id="tabs")
        with VerticalScroll(id="nothing", can_focus=True):
            yield Lines(id="empty")
        yield Lines(id="titles")
        yield SideBySide(id="source")
        yield Grid((), id="table")
        yield Lines(id="about")
        yield Bar(id="keys")
        yield TooSmall()

    def on_mount(self) -> None:
        """Focus the content."""
        self._draw()

    def on_screen_resume(self) -> None:
        """Compare the marked runs, or the best run with the current one."""
        self._wanted, self._measuring, self._marked = None, None, self.host.run_history.marked
        self._read()

    def on_resize(self) -> None:
        """Choose the columns for the new width."""
        self.call_after_refresh(self._draw)

    def draw(self) -> None:
        """Show problems of engine or store; the comparison is drawn when it is computed."""
        self.show_trouble()

    def workbench_changed(self) -> None:
        """Read the runs again when a run of the workbench begins or has its verdict."""
        begun = self._current
        if begun == self._seen:
            return
        self._seen = begun
        number, finished = begun
        if self._measuring is not None and finished and number is not None:
            self._wanted = Choice(numbers=(self._measuring, number), why="timed interleaved on the device")
            self._measuring = None
        self._read()

    # Actions

    def action_tab(self, name: str) -> None:
        """Show another part of the comparison."""
        self._tab = name
        self._draw()

    def action_turn_tab(self, step: int) -> None:
        """Show the next or the previous part."""
        self.action_tab(TABS[(TABS.index(self._tab) + step) % len(TABS)])

    def action_difference(self, step: int) -> None:
        """Go to the next or the previous difference of the sources, or of the table."""
        if self._tab == "source":
            if not self.query_one(SideBySide).next_difference(step):
                self.notify("no further difference in this direction", markup=False)
            return
        grid = self.query_one(Grid)
        places = [place for place, row in enumerate(grid.shown) if _differs(row.cells)]
        beyond = [place for place in places if (place - grid.cursor_row) * step > 0]
        if beyond:
            grid.move_cursor(row=min(beyond) if step > 0 else max(beyond))
        else:
            self.notify("no further difference in this direction", markup=False)

    def action_turn_side(self, step: int) -> None:
        """Show another side beside the reference."""
        if self._comparison is None or len(self._comparison.sides) <= FEWEST:
            self.notify("only two runs are compared; space marks more in the history", markup=False)
            return
        self._turned += step
        self._draw()

    def action_best(self) -> None:
        """Compare the best run with the current one, whatever is marked."""
        self._wanted, self._marked = None, ()
        self._read()

    def action_measure(self) -> None:
        """Time the shown side alternately with the reference."""
        why = why_not_measured(self.host.workbench, self._comparison, self._beside)
        if why:
            self.notify(why, markup=False)
            return
        workbench, comparison = self.host.workbench, self._comparison
        assert workbench is not None and comparison is not None  # a reason would have been returned above
        reference, other = comparison.sides[0], comparison.sides[self._beside]
        bench = workbench.bench
        order = RunRequest(
            problem=bench.problem,
            path=other.run.path or bench.path,
            content=other.source,
            device=bench.device,
            target=bench.target,
            again=True,
            benchmark=bench.benchmark,
            against=_candidate(reference),
        )
        self._measuring = reference.run.id
        workbench.runs.submit(order)
        self.notify(f"{other.name} is run and timed interleaved with {reference.name}", markup=False)

    def action_copy_value(self) -> None:
        """Copy the row under the cursor."""
        if self._tab != "source":
            row = next((row for row in self.query_one(Grid).shown if row.key == self.query_one(Grid).current), None)
            self.copy_text("  ".join(cell.text.strip() for cell in row.cells if cell.text.strip()) if row else "")
            return
        view = self.query_one(SideBySide)
        rows = view.alignment.rows
        cells = [rows[view.cursor_row].cells[column] for column in view.columns] if rows else []
        self.copy_text("\n".join(dict.fromkeys(cell.text for cell in cells if cell.number is not None)))

    async def action_copy_result(self) -> None:
        """Copy the whole comparison as Markdown."""
        found, glyphs = self._comparison, self.host.glyphs
        if found is None:
            self.copy_text("")
            return
        self.copy_text(
            await asyncio.to_thread(as_markdown, found.sides, found.comparisons, found.alignment, glyphs=glyphs)
        )

    # Messages

    @on(Bar.Chosen, "#tabs")
    def _tab_clicked(self, message: Bar.Chosen) -> None:
        self.action_tab(message.key)

    @on(DataTable.RowHighlighted)
    def _row_highlighted(self) -> None:
        self._draw_about()

    # Inside

    @property
    def _current(self) -> _BEGUN:
        """The number of the workbench's newest run, and whether it has its verdict."""
        workbench = self.host.workbench
        if workbench is None:
            return None, False
        return workbench.bench.live.number, workbench.bench.live.view.verdict is not None

    @property
    def _beside(self) -> int:
        """The side shown first beside the reference."""
        return 1 + self._turned % max(1, len(self._comparison.sides) - 1) if self._comparison else 1

    def _read(self) -> None:
        self._seen = self._current
        in_background(self, self._load, group="compare")

    async def _load(self) -> None:
        try:
            choice = self._wanted or await choice_of(self.host, self._marked)
            sides = [await side_of(self.host, number) for number in choice.numbers]
            require_one_operator(sides)
        except UsageError as error:
            self._marked = tuple(number for number in self._marked if number in self.host.run_history.marked)
            self._comparison, self._source, self._why = None, None, str(error)
            self._draw()
            return
        self._comparison = await asyncio.to_thread(comparison_of, choice, sides, glyphs=self.host.glyphs)
        self._source = None
        self._draw()

    # Drawing

    def _draw(self) -> None:
        self.show_trouble()
        found = self._comparison
        idle = dict.fromkeys(("next-difference", "copy-comparison"), found is None)
        self.show_keys_but(
            idle
            | {
                "measure": bool(why_not_measured(self.host.workbench, self._comparison, self._beside)),
                "best": self.host.workbench is None,
            }
        )
        is_source = found is not None and self._tab == "source"
        for part in ("titles", "source"):
            self.query_one(f"#{part}").display = is_source
        self.query_one("#tabs").display = found is not None
        self.query_one("#sides").display = found is not None
        if found is None:
            self._draw_nothing()
            return
        glyphs = self.host.glyphs
        self.query_one("#sides", Strip).show(tuple((head, ()) for head in found.heads(glyphs=glyphs)))
        segments = (Segment(key=name, line=found.tab_line(name), active=name == self._tab) for name in TABS)
        self.query_one("#tabs", Bar).show(tuple(segments))
        table = None if is_source else found.tables[self._tab]
        has_rows = table is not None and bool(table.rows)
        self.query_one("#table").display = self.query_one("#about").display = has_rows
        nothing = self.query_one("#nothing")
        nothing.display = not is_source and not has_rows
        if table is None:
            self._draw_source(found)
            return
        self.query_one("#empty", Lines).show((line(muted(table.empty)),))
        grid = self.query_one(Grid)
        grid.set_columns(table.columns)
        grid.show(table.rows)
        self.set_focus(grid if has_rows else nothing)
        self._draw_about()

    def _draw_nothing(self) -> None:
        for part in ("table", "about"):
            self.query_one(f"#{part}").display = False
        self.query_one("#empty", Lines).show((line(self._why),))
        self.query_one("#nothing").display = True
        self.set_focus(self.query_one("#nothing"))

    def _draw_source(self, found: Comparison) -> None:
        view, width = self.query_one(SideBySide), self.size.width - 1
        source = source_view(found, width=width, narrow=self.has_class("-narrow"), turned=self._turned)
        self.query_one("#titles", Lines).show((source.titles(found, width=width, glyphs=self.host.glyphs),))
        if self._source is None or source.shown != self._source.shown or source.columns != self._source.columns:
            rule = self.host.glyphs.axes[0]
            view.show(source.alignment, columns=source.columns, colours=source.colours, rule=rule)
            if self._source is None and source.alignment.starts:
                view.go_to(source.alignment.starts[0])
        self._source = source
        self.set_focus(view)

    def _draw_about(self) -> None:
        table = self._comparison.tables.get(self._tab) if self._comparison else None
        key = self.query_one(Grid).current
        self.query_one("#about", Lines).show(table.about.get(key, ()) if table and key else ())


def _candidate(side: Side) -> Candidate:
    folder = side.run.path.parent if side.run.path is not None else None
    return Candidate(source=side.source, problem=side.run.problem, filename=side.filename or "kernel.py", folder=folder)


def _differs(cells: tuple[Span, ...]) -> bool:
    return not any(cell.text == "same" and cell.tone is Tone.MUTED for cell in cells)
