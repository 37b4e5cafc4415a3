"""The bench tab: a row for every timed case, below it the details of the one under the cursor.
If nothing can be timed it says so, and shows static costs.
"""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import VerticalScroll

from kgtui.ports.protocols import CPU_DEVICE
from kgtui.state.bench.benchmarks import (
    bench_cases,
    bench_columns,
    bench_rows,
    shown_estimate,
    summary_lines,
    trouble,
    why_nothing,
)
from kgtui.state.bench.detail import LABEL, bench_detail, estimate_detail
from kgtui.state.bench.measurements import Measurement
from kgtui.state.bench.static_cost import COLUMNS, EXECUTED_ON_CPU, cost_rows, static_lines
from kgtui.state.format.lines import Line, Span, Tone, line, muted, plain_text
from kgtui.widgets.panes.base.detailed import DetailedPane
from kgtui.widgets.panes.base.pane import Followed, Scene
from kgtui.widgets.text.toned import Grid, Lines

ORDER = 30
TITLE = "Bench"


def make() -> BenchPane:
    """The pane of one workbench."""
    return BenchPane()


class BenchPane(DetailedPane):
    """A row for every bench case, and details of the one under the cursor."""

    def compose(self) -> ComposeResult:
        """Create the widgets: the summary, the table, the detail."""
        yield Lines(id="bench-note")
        yield Grid(COLUMNS, id="bench-table")
        with VerticalScroll(id="bench-scroll", can_focus=True):
            yield Lines(id="bench-detail", indent=LABEL)

    @property
    def current(self) -> Measurement | None:
        """Measurement of the case under the cursor."""
        name = self.query_one(Grid).current
        return self.scene.bench.measurements.of(name) if name and self.scene else None

    def show(self, scene: Scene) -> None:
        """Draw the measurements, or the reason why there are none."""
        self.scene = scene
        bench, grid = scene.bench, self.query_one(Grid)
        measurements = bench.measurements
        device = bench.view.device or bench.device
        is_static = device == CPU_DEVICE and not measurements.cases
        self.set_class(is_static, "-static")
        note, words = self.query_one("#bench-note", Lines), self._note(scene, is_static=is_static)
        note.display = bool(words)
        note.show(words)
        if is_static:
            grid.set_columns(COLUMNS)
            grid.show(cost_rows(bench.shown_problem, glyphs=scene.glyphs))
        else:
            problem, glyphs = bench.shown_problem, scene.glyphs
            grid.set_columns(bench_columns(problem, measurements, glyphs=glyphs))
            grid.show(bench_rows(problem, bench.view, measurements, glyphs=glyphs, dimmed=scene.outdated))
        self.show_detail()

    def follow(self) -> Followed:
        """No target; if there is no room for the detail, it replaces the table."""
        if self._current_lines():
            self.add_class("-detailed")
        self.screen.set_focus(self.main)
        return Followed()

    def copied(self) -> str:
        """The case under the cursor with all its measurements."""
        return plain_text(self._current_lines()) or self.query_one(Grid).current or ""

    def show_detail(self) -> None:
        """Draw the detail of the case under the cursor."""
        scene, current = self.scene, self._current_lines()
        if scene is None:
            return
        self.set_class(bool(current), "-timed")
        if not current and self.has_class("-detailed"):
            self.close_detail()
        detail = self.query_one("#bench-detail", Lines)
        if current:
            detail.show(current)
        elif self.has_class("-static"):
            detail.show(static_lines(scene.bench.view))
        else:
            timed = "not timed yet" if bench_cases(scene.bench.shown_problem) else ""
            detail.show((line(muted(timed)),))

    def _current_lines(self) -> tuple[Line, ...]:
        """Details of the case under the cursor, or its times so far; empty if it is not timed."""
        if self.scene is None:
            return ()
        glyphs, estimate, current = self.scene.glyphs, shown_estimate(self.scene.bench.view), self.current
        if estimate is not None and estimate.case == self.query_one(Grid).current:
            return estimate_detail(estimate, glyphs=glyphs)
        return bench_detail(current, glyphs=glyphs) if current is not None else ()

    def _note(self, scene: Scene, *, is_static: bool) -> tuple[Line, ...]:
        bench = scene.bench
        if is_static:
            return (line(Span(EXECUTED_ON_CPU, Tone.WARN)),)
        measurements, view = bench.measurements, bench.view
        lines = summary_lines(measurements, glyphs=scene.glyphs, dimmed=scene.outdated)
        untimed = view.verdict is not None and not view.benchmarks and all(one.stale for one in measurements.cases)
        if not measurements.cases or untimed or view.holder is not None:
            return (line(Span(why_nothing(view, bench.shown_problem), Tone.WARN)), *lines)
        stopped = trouble(view)
        return (line(Span(stopped, Tone.WARN)), *lines) if stopped else lines
