"""Draws the workbench's record on its widgets; changes nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.model import Stage
from kgtui.settings.keys import binding_id, first_key, key_while_typing
from kgtui.state.bench.benchmarks import best_line, headline
from kgtui.state.compare.sides import FEWEST
from kgtui.state.format.glyphs import TONES
from kgtui.state.format.lines import Line, Span, Tone
from kgtui.state.operators import rail_rows
from kgtui.state.workbench.next_step import next_step
from kgtui.state.workbench.status import Mode, is_stale, status_of
from kgtui.state.workbench.strip import head, pressed, progress, sentence
from kgtui.state.workbench.tabs import TABS, tab_line
from kgtui.widgets.controls.bars import Bar, Segment, Strip
from kgtui.widgets.panes.cases_pane import CasesPane
from kgtui.widgets.panes.ir_pane import CodePane, IrPane
from kgtui.widgets.panes.log_pane import LogPane
from kgtui.widgets.panes.pane import Scene
from kgtui.widgets.panes.source_pane import SourcePane
from kgtui.widgets.text.toned import Grid

if TYPE_CHECKING:
    from kgtui.screens.workbench.screen import WorkbenchScreen

_SEARCHED = (SourcePane, CodePane, CasesPane, IrPane, LogPane)
_EDIT_KEYS = frozenset(
    {"save", "find", "replace", "go-to-line", "editor", "run", "escape", "operators", "help", "quit"}
)


def draw_strip(screen: WorkbenchScreen) -> None:
    """State, stages and sentence; on the lowest terminals the stages give way to the sentence.

    The run to beat stands where the numbers of the shown run leave room.
    """
    desk, view, glyphs = screen.bench.desk(screen.host.clock()), screen.bench.view, screen.host.glyphs
    strip = screen.query_one("#verdict", Strip)
    numbers = headline(screen.bench.measurements, glyphs=glyphs)
    best = best_line(screen.history.best, shown=desk.number, glyphs=glyphs)
    first, words, step = head(view, desk, glyphs), sentence(view, desk), _step(screen)
    if screen.has_class("-low"):
        strip.show((first, (words, numbers or step)))
    else:
        narrow, timing = screen.has_class("-narrow"), screen.bench.can_time
        right = numbers or best
        talks = view.stage(Stage.PROBE) is not None or bool(view.failed)
        crowded = (narrow and (timing or talks)) or (bool(right) and not screen.has_class("-wide"))
        stages = progress(view, glyphs, short=crowded, timed=not (right and narrow))
        also = (*best, Span("  ")) if numbers and best else ()
        strip.show((first, (stages, right), (words, (*also, *step))))
    tone = TONES[status_of(view, desk).state]
    for other in Tone:
        strip.set_class(other is tone, f"-{other}")


def _step(screen: WorkbenchScreen) -> Line:
    """The key that helps most now, as the user has it."""
    bench = screen.bench
    step = next_step(bench.view, bench.desk(screen.host.clock()))
    action = next(action for action in screen.host.actions if binding_id(action) == step.binding)
    return pressed(key_while_typing(action) if bench.mode is Mode.EDIT else first_key(action), step.words)


def draw_all(screen: WorkbenchScreen) -> None:
    """The strip, the keys, the marks in the source, the tabs, and the pane that is to be seen."""
    draw_strip(screen)
    draw_keys(screen)
    bench, host = screen.bench, screen.host
    scene = scene_of(screen)
    marks = {} if scene.stale else bench.view.error_notes
    screen.source.mark(marks)
    folder = host.kernels.shown(bench.path.parent)
    name = bench.path.name if bench.unsaved else bench.shown_filename
    screen.source.title(name, folder=folder, marked=len(marks), old=bench.old is not None)
    tabs = ((name, tab_line(name, bench.results, wanted=scene.wanted)) for name in TABS)
    segments = (Segment(key=name, line=line, active=name == screen.tab) for name, line in tabs)
    screen.query_one("#tabs", Bar).show(tuple(segments))
    screen.pane.show(scene)
    if screen.code.wanted:
        screen.query_one(IrPane).show(scene)
        screen.code.refresh()


def draw_keys(screen: WorkbenchScreen) -> None:
    """The keys that do something now: what could not be written back as it was, or is past, is not edited here."""
    bench = screen.bench
    if bench.mode is Mode.EDIT:
        screen.show_keys(_EDIT_KEYS if bench.unsaved else _EDIT_KEYS - {"save"}, typing=True)
        return
    nothing_failed = not bench.results.failed
    others = {run.number for run in screen.history.runs} - {bench.shown.number}
    screen.show_keys_but(
        {
            "run": bench.waiting,
            "failed": nothing_failed or bench.shown_problem.name != bench.problem.name,
            "why": nothing_failed,
            "edit": bench.old is not None or bool(bench.why_not_editable),
            "compare": not others and len(screen.host.past.marked) < FEWEST,
            "search": not isinstance(screen.focused_pane, _SEARCHED),
        }
    )


def scene_of(screen: WorkbenchScreen) -> Scene:
    """The record of the screen with all that panes draw beside it."""
    bench, host = screen.bench, screen.host
    stale = is_stale(bench.view, bench.desk(host.clock()))
    return Scene(
        bench=bench,
        glyphs=host.glyphs,
        stale=stale,
        outdated=stale or bench.judged_nothing,
        now=host.now(),
        runs=screen.history.runs,
        marked=host.past.marked,
        wanted=screen.searcher.wanted,
        kernels=screen.code.kernels,
        foreign_target=screen.code.foreign_target,
    )


def draw_rail(screen: WorkbenchScreen) -> None:
    """The operators beside the file, and what is wrong with engine or store."""
    host, rail = screen.host, screen.query_one("#rail", Grid)
    rail.show(rail_rows(host.problems, host.past.last_runs, glyphs=host.glyphs))
    rail.go_to(screen.bench.problem.name)
    screen.show_trouble()
