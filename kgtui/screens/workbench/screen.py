"""One kernel file, its newest run, and everything that run said.

The screen keeps one `Workbench` record, changes it in its handlers, and draws it.  It asks the
application to judge, to read the store and to watch; it never does so itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.widgets import ContentSwitcher, DataTable

from engine.errors import UsageError
from engine.model import Problem
from engine.model.events import Event, RunFinished
from kgtui.ports.protocols import Order, RunHeader
from kgtui.screens import Place
from kgtui.screens.base.host import Host
from kgtui.screens.base.screen import KgtuiScreen
from kgtui.screens.workbench import drawing
from kgtui.screens.workbench.editing import EditingScreen
from kgtui.screens.workbench.file import FileKeeper
from kgtui.screens.workbench.replacing import Replacer
from kgtui.screens.workbench.run_history import PastRunViewer
from kgtui.screens.workbench.search import Searcher
from kgtui.settings.keys import Where, bindings_of
from kgtui.state.operators import RAIL_COLUMNS
from kgtui.state.workbench.markdown import run_markdown
from kgtui.state.workbench.status import Mode, status_of
from kgtui.state.workbench.tabs import turned
from kgtui.state.workbench.workbench import Workbench
from kgtui.widgets.controls.ask import Ask
from kgtui.widgets.controls.bars import Bar, Strip
from kgtui.widgets.controls.entry import Entry
from kgtui.widgets.controls.titled import Titled
from kgtui.widgets.controls.too_small import TooSmall
from kgtui.widgets.panes.bench_pane import BenchPane
from kgtui.widgets.panes.cases_pane import CasesPane
from kgtui.widgets.panes.findings_pane import FindingsPane
from kgtui.widgets.panes.history_pane import HistoryPane
from kgtui.widgets.panes.ir_pane import CodePane, IrPane
from kgtui.widgets.panes.log_pane import LogPane
from kgtui.widgets.panes.pane import Pane, Scene
from kgtui.widgets.panes.source_pane import SourcePane
from kgtui.widgets.text.toned import Grid, Lines

PLACE = Place.GROUND


def make(host: Host) -> WorkbenchScreen:
    """The workbench on the file that was opened first; it is told of others.

    Raises:
        UsageError: no file was opened.
    """
    if host.opened is None:
        raise UsageError("no file is open; enter on an operator opens its file")
    return WorkbenchScreen(host.opened)


class WorkbenchScreen(EditingScreen):
    """Watches one file and shows what became of it."""

    WHERE = Where.WORKBENCH
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(Where.WORKBENCH)]

    def __init__(self, bench: Workbench) -> None:
        super().__init__(bench)
        self.tab = "cases"
        self._zoomed = ""
        self._file = FileKeeper(self)
        self.history = PastRunViewer(self)
        self.searcher = Searcher(self)
        self.replacer = Replacer(self)

    def compose(self) -> ComposeResult:
        """Strip, source, tabs; the style sheet places them for each size."""
        yield Lines(id="banner")
        yield Strip(id="verdict")
        with Horizontal(id="body"):
            yield Grid(RAIL_COLUMNS, header=False, id="rail")
            yield SourcePane(id="source-pane")
            with Titled(id="results"):
                yield Bar(gap=" ", id="tabs")
                with ContentSwitcher(initial=self.tab, id="panes"):
                    yield CasesPane(id="cases")
                    yield FindingsPane(id="findings")
                    yield BenchPane(id="bench")
                    yield IrPane(id="ir")
                    yield HistoryPane(id="history")
                    yield LogPane(id="log")
                yield CodePane(id="ir-side")
        yield Entry(id="search")
        yield Entry(id="entry")
        yield Ask(id="ask")
        yield Bar(id="keys")
        yield TooSmall()

    def on_mount(self) -> None:
        """Open the file that the screen was made for."""
        self.query_one(Ask).display = False
        self._open()

    # What the application tells

    def open(self, problem: Problem, path: Path, content: bytes) -> None:
        """Show another file instead."""
        self.bench = Workbench(
            problem=problem, path=path, saved=content, device=self.bench.device, target=self.bench.target
        )
        self.history.forget()
        self.host.past.marked = ()
        self.searcher.wanted = ""
        self._open()

    def run_began(self, header: RunHeader) -> None:
        """A run begins: what was shown stays, dimmed, until its own results come."""
        self.bench = self.bench.run_began(
            number=header.number, cached=header.cached, digest=header.digest, picked=header.picked
        )

    def events_happened(self, events: Sequence[Event]) -> None:
        """More of the newest run."""
        self.bench = self.bench.happened(events)
        if not self.is_drawable:
            return
        self.draw()
        if any(isinstance(event, RunFinished) for event in events):
            self._show_error_line()
            self.read_history()

    def renumbered(self, numbers: Mapping[int, int]) -> None:
        """The runs of this session have other numbers in the store; marks would mean other runs."""
        if numbers:
            self.bench = self.bench.renumbered(numbers)
            self.host.past.marked = ()

    def open_past(self, number: int, *, problem: Problem | None = None, filename: str = "") -> None:
        """Look at a run as it was, once this screen is there; what is judged meanwhile shows when that is left.

        The open file stays open, whatever the file `filename` and the operator of the run are.
        """
        is_own = problem is None or problem.name == self.bench.problem.name
        other = None if is_own else problem
        self.call_later(partial(self.history.open, number, problem=other, filename=filename))

    def submit(self, order: Order) -> None:
        """Ask for a run; a past one that is looked at is left first, so that the source is the file's again."""
        if self.bench.old is not None:
            self.history.leave()
        super().submit(order)

    def on_resize(self) -> None:
        """The strip has fewer rows on a low terminal, and a wide one has room for code beside the tabs."""
        self.call_after_refresh(drawing.draw_all, self)

    def on_descendant_focus(self) -> None:
        """Other keys may do something in another pane."""
        if self.is_drawable:
            drawing.draw_keys(self)

    def tick(self) -> None:
        """Let the elapsed time of a run go on."""
        if self.busy:
            drawing.draw_strip(self)

    # Drawing

    @property
    def pane(self) -> Pane:
        """The tab that is shown."""
        pane = self.query_one(f"#{self.tab}")
        assert isinstance(pane, Pane)
        return pane

    @property
    def scene(self) -> Scene:
        """All that a pane, or a screen that lies over this one, may draw."""
        return drawing.scene_of(self)

    @property
    def busy(self) -> bool:
        """Whether a run goes on, so that its elapsed time does."""
        return status_of(self.bench.view, self.bench.desk(self.host.clock())).busy

    @property
    def case_under_cursor(self) -> str | None:
        """The case to judge alone."""
        return self.query_one(CasesPane).current_name

    @property
    def focused_pane(self) -> Pane | SourcePane | CodePane:
        """The pane that the keys go to: the file, compiled code, or the tab that is shown."""
        return self.source if self._in_source else self.code.focused or self.pane

    @property
    def source(self) -> SourcePane:
        """The pane with the file."""
        return self.query_one(SourcePane)

    def draw(self) -> None:
        """Draw what has changed, on the screen that lies over this one too."""
        drawing.draw_all(self)
        for front in self.app.screen_stack[-1:]:  # none is left while the application is taken down
            if front is not self and isinstance(front, KgtuiScreen) and front.is_drawable:
                front.workbench_changed()

    def host_changed(self) -> None:
        """Draw the operators beside the file, and what is wrong."""
        drawing.draw_rail(self)

    def read_history(self) -> None:
        """Fetch the runs of this operator from the store."""
        self.history.read()

    def _open(self) -> None:
        self.source.load(self.bench.saved, from_the_top=True)
        self._set_mode(Mode.WATCH)
        self.host_changed()
        self.read_history()
        self.host.file_watch.watch(self.bench.path, known_digest=self.bench.desk(0.0).content_digest)
        self.judge()
        self.set_focus(self.source.editor)
        self._file.offer_leftover()

    def set_mode(self, mode: Mode) -> None:
        """Letters are commands in one mode and text in the other."""
        self._set_mode(mode)
        self.draw()

    def _set_mode(self, mode: Mode) -> None:
        self.bench = replace(self.bench, mode=mode)
        self.source.edit(on=mode is Mode.EDIT)

    # Actions: panes

    def action_tab(self, name: str) -> None:
        """Show a tab."""
        self.tab = name
        self.query_one("#panes", ContentSwitcher).current = name
        self.draw()
        if not self._zoomed or self._zoomed == "results":
            self.set_focus(self.pane.main)

    def action_turn_tab(self, step: int) -> None:
        """Show the next tab or the one before."""
        self.action_tab(turned(self.tab, step))

    def action_zoom(self) -> None:
        """Give the focused pane the whole screen, or take it back."""
        self._zoom("" if self._zoomed else "source" if self._in_source else "results")

    def action_ir_pane(self) -> None:
        """Show or hide the code beside the results; where there is no room, show its tab."""
        if self.has_class("-wide"):
            self.toggle_class("-without-ir")
            self.draw()
        else:
            self.action_tab("ir")

    def action_hit(self, step: int) -> None:
        """The next or the previous match."""
        self.focused_pane.hit(step)

    def action_follow(self) -> None:
        """From what is under the cursor to its line, or to the run as it was."""
        if self._in_source:
            self.code.follow(self.source.line)
            return
        if (code := self.code.focused) is not None:
            self.code.follow_back(code)
            return
        pane = self.pane
        if isinstance(pane, HistoryPane):
            if pane.current is not None:
                self.history.open(pane.current)
            return
        if isinstance(pane, CasesPane) and pane.has_failed:
            self.host.action_show("case")
            return
        found = pane.followed_line()
        if isinstance(pane, BenchPane):
            self.set_focus(pane.main)
        if found is not None:
            self.source.go_to(found)

    def action_copy_value(self) -> None:
        """Copy what is under the cursor."""
        pane = self.focused_pane
        self.copy_text(pane.word if isinstance(pane, SourcePane) else pane.copied())

    def action_copy_result(self) -> None:
        """Copy the whole result as Markdown."""
        desk = self.bench.desk(self.host.clock())
        self.copy_text(run_markdown(self.bench.view, desk, glyphs=self.host.glyphs))

    def action_step_back(self) -> None:
        """Undo one thing: the question, the search, editing, the filter, a detail, the zoom, an old run, the run."""
        if self.query_one(Ask).subject:
            self._file.answered("escape")
        elif self.searcher.open:
            self.searcher.clear()
        elif self.replacer.open:
            self.replacer.close()
        elif self.bench.mode is Mode.EDIT:
            self.set_mode(Mode.WATCH)
        elif self.searcher.wanted:
            self.searcher.clear()
        elif self.pane.step_back():
            self.set_focus(self.pane.main)
        elif self._zoomed:
            self._zoom("")
        elif self.bench.old is not None:
            self.history.leave()
        elif self.host.cancel():
            self.bench = self.bench.not_begun()
            self.draw()

    # Messages of the panes

    @on(Bar.Chosen, "#tabs")
    def _tab_clicked(self, message: Bar.Chosen) -> None:
        self.action_tab(message.key)

    @on(SourcePane.Edited)
    def _edited(self, message: SourcePane.Edited) -> None:
        if self.bench.old is None:
            self.bench = replace(self.bench, unsaved=message.unsaved)
            self.draw()

    @on(DataTable.RowSelected, "#rail")
    def _operator_chosen(self, message: DataTable.RowSelected) -> None:
        name = message.row_key.value
        problem = next((problem for problem in self.host.problems if problem.name == name), None)
        if problem is not None and problem.name != self.bench.problem.name:
            self._file.leave_for(problem)

    @on(DataTable.RowSelected)
    def _row_selected(self, message: DataTable.RowSelected) -> None:
        if message.data_table.id != "rail":
            self.action_follow()

    # Inside

    @property
    def _in_source(self) -> bool:
        return self.focused is not None and self.source in self.focused.ancestors_with_self

    def _zoom(self, part: str) -> None:
        self._zoomed = part
        self.set_class(part == "source", "-zoom-source")
        self.set_class(part == "results", "-zoom-results")

    def _show_error_line(self) -> None:
        """Bring the line to blame into view, unless the user is writing or looks at another run."""
        bench = self.bench
        line = bench.blamed_line
        if line is not None and bench.mode is Mode.WATCH and bench.old is None and not bench.unsaved:
            self.source.go_to(line)
