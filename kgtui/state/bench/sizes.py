"""The bench cases over their sizes: the candidate, the baselines and the roofline as series of a plot."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass

from engine.model import Case, Cost, Problem
from engine.model.benchmark import Bound, Interval
from kgtui.state.bench.benchmarks import bench_cases
from kgtui.state.bench.measurements import Measurement, Measurements, Trust
from kgtui.state.format import numbers
from kgtui.state.format.glyphs import Glyphs, State
from kgtui.state.format.lines import Line, Span, Tone, line, muted
from kgtui.state.format.plot import Axis, Point, Series, draw, linear_axis, log_axis

_BASELINE_TONES = (Tone.LINK, Tone.PLAIN, Tone.MUTED, Tone.BUSY)
_ROWS_A_TICK = 3
_LEAST_TICKS = 5
_COLUMNS_A_TICK = 11
ROOFLINE = "roofline"


class Measure(enum.StrEnum):
    """Quantity of the plot on the vertical axis."""

    BANDWIDTH = "bandwidth"
    FLOPS = "compute"
    TIME = "device time"


class Over(enum.StrEnum):
    """Quantity of the plot on the horizontal axis."""

    BYTES = "working set"
    ORDER = "case"


@dataclass(frozen=True, kw_only=True)
class PlotAxes:
    """Selected quantities of the plot."""

    measure: Measure
    over: Over = Over.BYTES

    def value(self, time_us: float, cost: Cost) -> float | None:
        """A time as GB/s, TFLOP/s or microseconds; None if the case moves or computes nothing."""
        amount = {
            Measure.TIME: time_us,
            Measure.BANDWIDTH: (cost.bytes_read + cost.bytes_written) / time_us / 1e3,
            Measure.FLOPS: cost.flops / time_us / 1e6,
        }[self.measure]
        return amount if amount > 0 else None

    def unit(self, glyphs: Glyphs) -> str:
        """The unit of those values."""
        units = {Measure.TIME: f"{glyphs.micro}s", Measure.BANDWIDTH: "GB/s", Measure.FLOPS: "TFLOP/s"}
        return units[self.measure]


def first_measure(measurements: Measurements) -> Measure:
    """Default quantity: operations per second if most cases are bound by them, else bandwidth."""
    bounds = [one.benchmark.floor.bound for one in measurements.cases if one.benchmark.floor]
    return Measure.FLOPS if bounds.count(Bound.COMPUTE) * 2 > len(bounds) else Measure.BANDWIDTH


def series_of(
    problem: Problem, measurements: Measurements, plot_axes: PlotAxes, *, glyphs: Glyphs
) -> tuple[Series, ...]:
    """The roofline, the baselines and, if the run passed, the candidate on top."""
    found = [_series(ROOFLINE, "", Tone.MUTED, problem, measurements, plot_axes, _floor)]
    for place, baseline in enumerate(measurements.baselines):
        marker = glyphs.markers[1 + place % (len(glyphs.markers) - 1)]
        tone = _BASELINE_TONES[place % len(_BASELINE_TONES)]
        found.append(_series(baseline, marker, tone, problem, measurements, plot_axes, _baseline(baseline)))
    first = glyphs.markers[0]
    for name, tone, admits in (
        ("candidate, stale", Tone.STALE, lambda one: one.stale and one.trust is not Trust.WRONG),
        (
            f"{glyphs.state(State.FLAGGED)} candidate, flagged",
            Tone.WARN,
            lambda one: not one.stale and one.trust is Trust.FLAGGED,
        ),
        ("candidate", Tone.GOOD, lambda one: not one.stale and one.trust is Trust.CREDIBLE),
    ):
        found.append(_series(name, first, tone, problem, measurements, plot_axes, _candidate(admits)))
    return tuple(one for one in found if one.points)


def legend(series: tuple[Series, ...], plot_axes: PlotAxes, *, glyphs: Glyphs) -> Line:
    """Axes of the plot, then every series with its marker."""
    parts = [Span(f"{plot_axes.measure}, {plot_axes.unit(glyphs)}", Tone.STRONG), muted(f" by {plot_axes.over}")]
    dashed = f"{glyphs.axes[2]} {glyphs.axes[2]}"
    candidates = [one for one in series if one.marker == glyphs.markers[0]]
    baselines = [one for one in series if one.marker and one not in candidates]
    ordered = (*candidates, *baselines, *(one for one in series if not one.marker))
    return (*parts, *(Span(f"  {one.marker or dashed} {one.name}", one.tone) for one in ordered))


@dataclass(frozen=True, kw_only=True)
class SizesPicture:
    """A plot of bench cases; `marked` is the highlighted case."""

    problem: Problem
    series: tuple[Series, ...]
    plot_axes: PlotAxes
    glyphs: Glyphs
    marked: str | None = None

    def lines(self, *, width: int, height: int) -> tuple[Line, ...]:
        """The plot in this size; a sentence if there is nothing to plot or no room for it."""
        points = [point for one in self.series for point in one.points]
        if not points:
            return (line(muted(_nothing(self.plot_axes))),)
        y = _y_axis(points, self.plot_axes, most=max(_LEAST_TICKS, height // _ROWS_A_TICK))
        x = _x_axis(self.problem, points, self.plot_axes, columns=width, glyphs=self.glyphs)
        drawn = draw(self.series, x, y, width=width, height=height, glyphs=self.glyphs, marked=self.marked)
        return drawn or (line(muted("too small for a plot; the table has all of it")),)


def _nothing(plot_axes: PlotAxes) -> str:
    if plot_axes.measure is Measure.FLOPS:
        return "nothing to plot: no timed case has operations in its cost; m shows another measure"
    return "nothing to plot: no case has a time"


def _series(
    name: str,
    marker: str,
    tone: Tone,
    problem: Problem,
    measurements: Measurements,
    plot_axes: PlotAxes,
    time_of: Callable[[Measurement], Interval | None],
) -> Series:
    known = {case.name: (place, case) for place, case in enumerate(bench_cases(problem))}
    points = []
    for one in measurements.cases:
        time_us = time_of(one)
        if one.case in known and time_us is not None and time_us.low > 0:
            point = _point(*known[one.case], time_us, problem, plot_axes)
            points += [point] if point else []
    return Series(name=name, points=tuple(points), marker=marker, tone=tone)


def _point(place: int, case: Case, time_us: Interval, problem: Problem, plot_axes: PlotAxes) -> Point | None:
    cost = problem.cost(case)
    values = [plot_axes.value(value, cost) for value in (time_us.value, time_us.low, time_us.high)]
    known = [value for value in values if value is not None]
    size = cost.bytes_read + cost.bytes_written
    if len(known) < len(values) or (plot_axes.over is Over.BYTES and not size):
        return None
    by_order = plot_axes.over is Over.ORDER
    return Point(
        key=case.name,
        group=case.name if by_order else case.dtype,
        x=float(place if by_order else size),
        y=known[0],
        low=min(known),
        high=max(known),
    )


def _candidate(admits: Callable[[Measurement], bool]) -> Callable[[Measurement], Interval | None]:
    return lambda one: one.benchmark.timing.device_us if one.benchmark.timing and admits(one) else None


def _baseline(name: str) -> Callable[[Measurement], Interval | None]:
    return lambda one: next((timing.device_us for timing in one.benchmark.baselines if timing.side == name), None)


def _floor(one: Measurement) -> Interval | None:
    floor = one.benchmark.floor
    return Interval(value=floor.floor_us, low=floor.floor_us, high=floor.floor_us) if floor else None


def _y_axis(points: list[Point], plot_axes: PlotAxes, *, most: int) -> Axis:
    highest = max(point.high for point in points)
    if plot_axes.measure is Measure.TIME:
        lowest = min(point.low for point in points)
        return log_axis(lowest, highest, numbers.tick, base=10 if highest > 100 * lowest else 2, most=most)
    return linear_axis(highest, numbers.tick, most=most)


def _x_axis(problem: Problem, points: list[Point], plot_axes: PlotAxes, *, columns: int, glyphs: Glyphs) -> Axis:
    if plot_axes.over is Over.ORDER:
        cases = bench_cases(problem)
        room = max(4, columns // max(1, len(cases)) - 2)
        ticks = tuple((float(place), _cut(case.name, room, glyphs)) for place, case in enumerate(cases))
        return Axis(low=-0.5, high=max(1, len(cases)) - 0.5, ticks=ticks)
    sizes = [point.x for point in points]
    return log_axis(
        min(sizes), max(sizes), lambda size: numbers.bytes_of(round(size)), base=2, most=columns // _COLUMNS_A_TICK
    )


def _cut(text: str, room: int, glyphs: Glyphs) -> str:
    return text if len(text) <= room else f"{text[: room - 1]}{glyphs.cut}"
