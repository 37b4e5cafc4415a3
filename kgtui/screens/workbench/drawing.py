"""Draws the workbench's record on its widgets; changes nothing else."""

from __future__ import annotations

from engine.model import Stage
from kgtui.screens.workbench.code import CodeLoader
from kgtui.screens.workbench.context import WorkbenchContext
from kgtui.screens.workbench.pointer import Pointer
from kgtui.screens.workbench.run_history import PastRunViewer
from kgtui.screens.workbench.search import Searcher
from kgtui.screens.workbench.tabs import TabSwitcher
from kgtui.settings.keys import binding_id, first_key, key_while_typing
from kgtui.state.bench.benchmarks import best_line, current_headline
from kgtui.state.compare.sides import FEWEST
from kgtui.state.format.glyphs import TONES
from kgtui.state.format.lines import Line, Span, Tone
from kgtui.state.operators import rail_rows
from kgtui.state.run.error_notes import error_notes
from kgtui.state.workbench.next_step import next_step
from kgtui.state.workbench.status import CandidateStage, Mode, is_stale, status_of
from kgtui.state.workbench.strip import head, pressed, progress_within, sentence, sentence_within
from kgtui.widgets.controls.bars import Strip
from kgtui.widgets.panes.base.pane import Scene
from kgtui.widgets.panes.ir import IrPane
from kgtui.widgets.text.toned import Grid

_EDIT_KEYS = frozenset(
    {"save", "find", "replace", "go-to-line", "editor", "run", "escape", "operators", "help", "quit"}
)
_CANDIDATE_KEYS = frozenset({"version-before", "next-version", "escape", "help", "quit"})
_TAKING_KEYS = frozenset({"keep", "edit", "remark"})


class Drawing:
    """Draws the record on the widgets of the screen."""

    def __init__(
        self,
        context: WorkbenchContext,
        *,
        tabs: TabSwitcher,
        history: PastRunViewer,
        code: CodeLoader,
        pointer: Pointer,
        searcher: Searcher,
    ) -> None:
        self._context = context
        self._tabs = tabs
        self._history = history
        self._code = code
        self._pointer = pointer
        self._searcher = searcher

    def draw_strip(self) -> None:
        """State, stages and sentence; on the lowest terminals the sentence replaces the stages.
        The best run is shown if the numbers of the shown run leave room.
        """
        strip_context, view, glyphs = self._context.strip_context, self._context.bench.view, self._context.host.glyphs
        strip = self._context.screen.query_one("#verdict", Strip)
        numbers = current_headline(view, self._context.bench.measurements, glyphs=glyphs)
        best = best_line(self._history.best, shown=strip_context.number, glyphs=glyphs)
        first, step = head(view, strip_context, glyphs), self._step()
        if self._context.screen.has_class("-low"):
            strip.show((first, (sentence(view, strip_context), numbers or step)))
        else:
            narrow, timing = self._context.screen.has_class("-narrow"), self._context.bench.can_time
            right = numbers or best
            has_details = view.stage(Stage.PROBE) is not None or bool(view.failed)
            is_crowded = (narrow and (timing or has_details)) or (
                bool(right) and not self._context.screen.has_class("-wide")
            )
            began = "answered" if self._context.bench.shown.candidate else "saved"
            room = strip.room_beside(right)
            shows_times = not (right and narrow)
            stages = progress_within(room, view, glyphs, short=is_crowded, timed=shows_times, first=began)
            also = (*best, Span("  ")) if numbers and best else ()
            words = sentence_within(strip.room_beside((*also, *step)), view, strip_context)
            strip.show((first, (stages, right), (words, (*also, *step))))
        tone = TONES[status_of(view, strip_context).state]
        for other in Tone:
            strip.set_class(other is tone, f"-{other}")

    def _step(self) -> Line:
        """The most useful next key, by the user's bindings."""
        bench = self._context.bench
        step = next_step(bench.view, self._context.strip_context)
        action = next(action for action in self._context.host.actions if binding_id(action) == step.binding)
        return pressed(key_while_typing(action) if bench.mode is Mode.EDIT else first_key(action), step.words)

    def draw_all(self) -> None:
        """The strip, the keys, the marks in the source, the tabs, and the visible pane."""
        self.draw_strip()
        self.draw_keys()
        bench, host = self._context.bench, self._context.host
        scene = self.scene
        marks = {} if scene.stale else error_notes(bench.view)
        self._context.source.mark(marks)
        path = bench.path if bench.old is None or bench.unsaved else bench.old.path
        folder = host.kernels.shown(path.parent) if path is not None else ""
        name = bench.path.name if bench.unsaved else bench.shown_filename
        kind = "generated" if bench.shown.candidate else "past run" if bench.old is not None else ""
        self._context.source.title(name, folder=folder, marked=len(marks), kind=kind)
        self._tabs.panel.show(scene)
        if self._code.wanted:
            self._context.screen.query_one(IrPane).show(scene)
            self._code.refresh()

    def draw_keys(self) -> None:
        """Draw the available keys: a past run, or a file that cannot be written back without loss, is not editable."""
        bench = self._context.bench
        if bench.mode is Mode.EDIT:
            keys = _EDIT_KEYS if bench.unsaved else _EDIT_KEYS - {"save"}
            found = {"next-hit"} if self._context.source.is_searched else set()
            self._context.screen.show_keys(keys | found, typing=True, labels={"next-hit": "next match"})
            return
        if bench.shown.candidate:
            is_settled = bench.shown.stage is CandidateStage.SETTLED
            self._context.screen.show_keys(_CANDIDATE_KEYS | _TAKING_KEYS if is_settled else _CANDIDATE_KEYS)
            return
        nothing_failed, own = not bench.results.failed, bench.path.name
        others = {run.number for run in self._history.runs} - {bench.shown.number}
        self._context.screen.show_keys_but(
            {
                "run": bench.waiting,
                "failed": nothing_failed or bench.is_of_other_file,
                "why": nothing_failed,
                "edit": bench.old is not None or bool(bench.why_not_editable),
                "compare": not others and len(self._context.host.run_history.marked) < FEWEST,
                "search": not self._pointer.focused_pane.SEARCHES,
            },
            labels={"run": f"run {own}", "editor": f"editor: {own}"} if bench.is_of_other_file else {},
        )

    @property
    def scene(self) -> Scene:
        """The record of the screen with all other data of panes."""
        bench, host = self._context.bench, self._context.host
        stale = is_stale(bench.view, self._context.strip_context)
        return Scene(
            bench=bench,
            glyphs=host.glyphs,
            stale=stale,
            outdated=stale or bench.ended_before_cases,
            now=host.now(),
            runs=self._history.runs,
            marked=host.run_history.marked,
            wanted=self._searcher.wanted,
            kernels=self._code.kernels,
            foreign_target=self._code.foreign_target,
        )

    def draw_rail(self) -> None:
        """Draw the operators beside the file, and errors of engine or store."""
        host, rail = self._context.host, self._context.screen.query_one("#rail", Grid)
        rail.show(rail_rows(host.problems, host.run_history.last_runs, glyphs=host.glyphs))
        rail.go_to(self._context.bench.problem.name)
        self._context.screen.show_trouble()
