"""The bench cases over their sizes: a plot of candidate, baselines and roofline, over the table of the cases.

It draws the state of the workbench and requests runs from it; it only has display state.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widgets import DataTable

from kgtui.screens import Place
from kgtui.screens.base.host import Host
from kgtui.screens.base.over_workbench import ScreenOverWorkbench, workbench_of
from kgtui.settings.keys import Where, bindings_of
from kgtui.state.bench.benchmarks import NOT_RIGHT, bench_columns, bench_rows, current_headline, why_nothing
from kgtui.state.bench.measurements import Trust
from kgtui.state.bench.sizes import Measure, Over, PlotAxes, SizesPicture, first_measure, legend, series_of
from kgtui.state.bench.static_cost import COLUMNS, EXECUTED_ON_CPU, cost_rows
from kgtui.state.format.lines import Span, Tone, line, muted
from kgtui.state.workbench.strip import head
from kgtui.widgets.controls.bars import Bar, Strip
from kgtui.widgets.controls.too_small import TooSmall
from kgtui.widgets.panes.base.pane import Scene
from kgtui.widgets.tables.plot_view import PlotView
from kgtui.widgets.text.toned import Grid, Lines

if TYPE_CHECKING:
    from kgtui.screens.base.open_workbench import OpenWorkbench


PLACE = Place.OVER


def make(host: Host) -> BenchScreen:
    """The plot of the workbench's times.

    Raises:
        UsageError: no file is open.
    """
    return BenchScreen(workbench_of(host, otherwise="there is nothing to plot"))


class BenchScreen(ScreenOverWorkbench):
    """The plot, over the workbench, which reports changes to it."""

    WHERE = Where.BENCH
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(Where.BENCH)]

    def __init__(self, workbench: OpenWorkbench) -> None:
        super().__init__(workbench)
        self._plot_axes: PlotAxes | None = None

    @property
    def plot_axes(self) -> PlotAxes:
        """View of the measurements; by default that of the bound of most cases."""
        return self._plot_axes or PlotAxes(measure=first_measure(self._workbench.bench.measurements))

    def compose(self) -> ComposeResult:
        """Create the widgets: state, legend, plot, table."""
        yield Lines(id="banner")
        yield Strip(id="state")
        yield Lines(id="legend")
        yield PlotView(id="plot")
        yield Grid(COLUMNS, id="sizes")
        yield Bar(id="keys")
        yield TooSmall()

    def on_mount(self) -> None:
        """Draw the state of the workbench."""
        self.set_focus(self.query_one(Grid))
        self.draw()

    def draw(self) -> None:
        """Draw what has changed."""
        scene = self._workbench.scene
        bench = self._workbench.bench
        nothing = not bench.measurements.cases
        self.show_keys_but({"again": bench.benchmark is None, "measure": nothing, "axis": nothing})
        self.show_trouble()
        self._draw_state()
        self._draw_table(scene)
        self._draw_plot(scene)

    def tick(self) -> None:
        """Update the elapsed time of a run."""
        if self._workbench.runs.busy:
            self._draw_state()

    def action_measure(self) -> None:
        """Show bandwidth, operations a second, or time; no effect if nothing was timed."""
        if not self._workbench.bench.measurements.cases:
            return
        measures = tuple(Measure)
        place = measures.index(self.plot_axes.measure) + 1
        self._plot_axes = replace(self.plot_axes, measure=measures[place % len(measures)])
        self.draw()

    def action_axis(self) -> None:
        """Plot over the working set, or in the order of the cases; no effect if nothing was timed."""
        if not self._workbench.bench.measurements.cases:
            return
        self._plot_axes = replace(self.plot_axes, over=Over.ORDER if self.plot_axes.over is Over.BYTES else Over.BYTES)
        self.draw()

    def action_benchmark(self) -> None:
        """Verify, then time the bench cases again."""
        self._workbench.runs.action_benchmark()

    @on(DataTable.RowHighlighted)
    def _row_highlighted(self) -> None:
        self._draw_plot(self._workbench.scene)

    def _draw_state(self) -> None:
        bench, host = self._workbench.bench, self.host
        left, _ = head(bench.view, bench.strip_context(host.clock()), host.glyphs)
        right = current_headline(bench.view, bench.measurements, glyphs=host.glyphs)
        self.query_one("#state", Strip).show(((left, right),))

    def _draw_table(self, scene: Scene) -> None:
        bench, grid = scene.bench, self.query_one(Grid)
        measurements = bench.measurements
        if not bench.can_time and not measurements.cases:
            grid.show(cost_rows(bench.shown_problem, glyphs=scene.glyphs))
            return
        grid.set_columns(bench_columns(bench.shown_problem, measurements, glyphs=scene.glyphs))
        grid.show(bench_rows(bench.shown_problem, bench.view, measurements, glyphs=scene.glyphs, dimmed=scene.stale))

    def _draw_plot(self, scene: Scene) -> None:
        bench, plot_axes, glyphs = scene.bench, self.plot_axes, scene.glyphs
        measurements = bench.measurements
        series = series_of(bench.shown_problem, measurements, plot_axes, glyphs=glyphs)
        if not measurements.cases:
            words = why_nothing(bench.view, bench.shown_problem) if bench.can_time else EXECUTED_ON_CPU
            self.query_one("#legend", Lines).show((line(muted(words)),))
        else:
            wrong = any(one.trust is Trust.WRONG for one in measurements.cases)
            doubt = (line(Span(NOT_RIGHT, Tone.WARN)),) if wrong else ()
            self.query_one("#legend", Lines).show((legend(series, plot_axes, glyphs=glyphs), *doubt))
        marked = self.query_one(Grid).current
        picture = SizesPicture(
            problem=bench.shown_problem, series=series, plot_axes=plot_axes, marked=marked, glyphs=glyphs
        )
        self.query_one(PlotView).show(picture)
