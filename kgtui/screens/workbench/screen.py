"""One kernel file, its newest run, and the events of that run.

The screen composes the widgets and forwards their messages.  Its controllers, with one job each, share a context with
one `Workbench` record, replace that, and draw.  They use the application to run candidates, read the store and watch
files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.widgets import DataTable

from engine.errors import UsageError
from engine.model import Problem
from kgtui.screens import Place
from kgtui.screens.base.host import Host
from kgtui.screens.base.screen import KgtuiScreen
from kgtui.screens.workbench.candidates import CandidateViewer
from kgtui.screens.workbench.code import CodeLoader
from kgtui.screens.workbench.context import WorkbenchContext
from kgtui.screens.workbench.drawing import Drawing
from kgtui.screens.workbench.editing.external_editor import ExternalEditor
from kgtui.screens.workbench.editing.file import FileKeeper
from kgtui.screens.workbench.editing.replacing import Replacer
from kgtui.screens.workbench.editing.unsaved_text import UnsavedText
from kgtui.screens.workbench.pointer import Pointer
from kgtui.screens.workbench.results import ResultsPanel
from kgtui.screens.workbench.run_history import PastRunViewer
from kgtui.screens.workbench.runs import RunController
from kgtui.screens.workbench.search import Searcher
from kgtui.screens.workbench.tabs import TabSwitcher
from kgtui.settings.keys import Where, bindings_of
from kgtui.state.operators import RAIL_COLUMNS
from kgtui.state.workbench.status import Mode
from kgtui.state.workbench.workbench import Workbench
from kgtui.widgets.controls.ask import Ask
from kgtui.widgets.controls.bars import Bar, Strip
from kgtui.widgets.controls.entry import Entry
from kgtui.widgets.controls.too_small import TooSmall
from kgtui.widgets.panes import pane_modules
from kgtui.widgets.panes.base.pane import Scene
from kgtui.widgets.panes.base.source_pane import SourcePane
from kgtui.widgets.panes.ir import IrPane
from kgtui.widgets.text.code_view import CodeView
from kgtui.widgets.text.toned import Grid, Lines

PLACE = Place.GROUND


def make(host: Host) -> WorkbenchScreen:
    """The workbench on the first opened file; it is notified of later ones.

    Raises:
        UsageError: no file was opened.
    """
    if host.opened is None:
        raise UsageError("no file is open; enter on an operator opens its file")
    return WorkbenchScreen(host.opened)


class WorkbenchScreen(KgtuiScreen):
    """Watches one file and shows the result of its runs."""

    WHERE = Where.WORKBENCH
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(Where.WORKBENCH)]
    CONTROLLERS: ClassVar[Mapping[str, type[object]]] = {
        "tabs": TabSwitcher,
        "history": PastRunViewer,
        "runs": RunController,
        "code": CodeLoader,
        "file": FileKeeper,
        "editor": ExternalEditor,
        "pointer": Pointer,
        "searcher": Searcher,
        "replacer": Replacer,
        "candidates": CandidateViewer,
    }

    def __init__(self, bench: Workbench) -> None:
        super().__init__()
        self.context = context = WorkbenchContext(self, bench)
        self.tabs = tabs = TabSwitcher(context)
        self.history = PastRunViewer(context, tabs=tabs)
        self.runs = RunController(context, tabs=tabs, history=self.history)
        self.code = CodeLoader(context, tabs=tabs)
        self.unsaved_text = UnsavedText(context, history=self.history)
        self.file = FileKeeper(context, runs=self.runs, unsaved=self.unsaved_text)
        self.editor = ExternalEditor(context)
        self.pointer = Pointer(context, tabs=tabs, code=self.code, history=self.history)
        self.searcher = Searcher(context, tabs=tabs, code=self.code, pointer=self.pointer)
        self.replacer = Replacer(context, file=self.file)
        self.candidates = CandidateViewer(context, history=self.history)
        self._drawing = Drawing(
            context, tabs=tabs, history=self.history, code=self.code, pointer=self.pointer, searcher=self.searcher
        )

    def compose(self) -> ComposeResult:
        """Create the widgets: strip, source, tabs; the style sheet places them for each size."""
        yield Lines(id="banner")
        yield Strip(id="verdict")
        with Horizontal(id="body"):
            yield Grid(RAIL_COLUMNS, header=False, id="rail")
            yield SourcePane(id="source-pane")
            yield ResultsPanel(pane_modules(), id="results")
        yield Entry(id="search")
        yield Entry(id="entry")
        yield Ask(id="ask")
        yield Bar(id="keys")
        yield TooSmall()

    def on_mount(self) -> None:
        """Open the file that the screen was made for."""
        self.query_one(Ask).display = False
        self._open()

    # Interface for other screens

    @property
    def bench(self) -> Workbench:
        """The open file, its newest run and that run's record."""
        return self.context.bench

    @bench.setter
    def bench(self, bench: Workbench) -> None:
        self.context.bench = bench

    @property
    def source(self) -> SourcePane:
        """The pane with the file."""
        return self.context.source

    @property
    def scene(self) -> Scene:
        """The data for panes, and for screens on top of this one."""
        return self._drawing.scene

    def open(self, problem: Problem, path: Path, content: bytes) -> None:
        """Show another file instead."""
        bench = self.bench
        self.bench = Workbench(problem=problem, path=path, saved=content, device=bench.device, target=bench.target)
        self.history.forget()
        self.host.run_history.marked = ()
        self.searcher.wanted = ""
        self._open()

    def _open(self) -> None:
        self.source.load(self.bench.saved, from_the_top=True)
        self.context.set_mode(Mode.WATCH)
        self.host_changed()
        self.history.read()
        self.host.file_watch.watch(self.bench.path, known_digest=self.bench.strip_context(0.0).content_digest)
        self.runs.request()
        self.runs.show_error_line()  # for a stored run that already answers the request
        self.set_focus(self.source.editor)
        self.file.opened()

    # Drawing

    def on_resize(self) -> None:
        """Redraw: the strip has fewer rows on a low terminal, and a wide one has room for code beside the tabs."""
        self.call_after_refresh(self._drawing.draw_all)

    def on_descendant_focus(self) -> None:
        """Redraw the keys, which depend on the focused pane."""
        if self.is_drawable:
            self._drawing.draw_keys()

    def tick(self) -> None:
        """Update the elapsed time of a run, and show more of an arriving candidate."""
        self.candidates.tick()
        if self.runs.busy:
            self._drawing.draw_strip()

    @property
    def waits(self) -> bool:
        """Whether candidates are being generated."""
        return self.candidates.waits

    def draw(self) -> None:
        """Draw what has changed, also on the screen on top of this one."""
        self._drawing.draw_all()
        for front in self.app.screen_stack[-1:]:  # the stack is empty during shutdown
            if front is not self and isinstance(front, KgtuiScreen) and front.is_drawable:
                front.workbench_changed()

    def host_changed(self) -> None:
        """Draw the operators beside the file, and errors."""
        self._drawing.draw_rail()

    # Keys and messages

    def action_step_back(self) -> None:
        """Undo one step: question, search, editing, filter, detail, zoom, an old run, the run, generating."""
        ask = self.query_one(Ask)
        if ask.subject and not ask.waits:
            self.file.step_back()
        elif self.searcher.open:
            self.searcher.clear()
        elif self.replacer.open:
            self.replacer.close()
        elif ask.waits:
            ask.take_keys()
        elif self.bench.mode is Mode.EDIT:
            self.file.end_editing()
        elif self.searcher.wanted:
            self.searcher.clear()
        elif self.tabs.pane.step_back():
            self.tabs.take_keys()
        elif self.tabs.zoomed:
            self.tabs.zoom("")
        elif self.bench.shown.candidate:
            self.candidates.leave()
        elif self.bench.old is not None:
            self.history.leave()
        elif self.runs.busy:
            self.runs.cancel()
        elif self.candidates.stop():
            self.context.notify("stopped generating; answers received so far are stored")
        else:
            self.runs.cancel()

    @on(ResultsPanel.TabChosen)
    def _tab_clicked(self, message: ResultsPanel.TabChosen) -> None:
        self.tabs.show(message.tab)

    @on(SourcePane.Edited)
    def _edited(self, message: SourcePane.Edited) -> None:
        if self.bench.old is None:
            self.bench = replace(self.bench, unsaved=message.unsaved)
            self.draw()

    @on(SourcePane.Typed)
    def _typed(self) -> None:
        self.unsaved_text.typed()

    @on(SourcePane.CursorMoved)
    def _source_moved(self, message: SourcePane.CursorMoved) -> None:
        self.code.point_out(message.line)

    @on(CodeView.CursorMoved)
    def _code_moved(self, message: CodeView.CursorMoved) -> None:
        if message.view.has_focus:
            self.code.moved()

    @on(IrPane.KernelChosen)
    def _kernel_chosen(self) -> None:
        self.code.refresh()

    @on(IrPane.TargetLeft)
    def _target_left(self) -> None:
        self.code.read_for(None)

    @on(DataTable.RowSelected, "#rail")
    def _operator_chosen(self, message: DataTable.RowSelected) -> None:
        name = message.row_key.value
        problem = next((problem for problem in self.host.problems if problem.name == name), None)
        if problem is not None and problem.name != self.bench.problem.name:
            self.file.leave_for(problem)

    @on(DataTable.RowSelected)
    def _row_selected(self, message: DataTable.RowSelected) -> None:
        if message.data_table.id != "rail":
            self.pointer.action_follow()
