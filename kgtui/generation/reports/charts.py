"""Charts of a report: data for the template, drawn as bars in a table or as lines in an SVG of fixed size."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from engine.model.benchmark import Interval
from kgtui.generation.comparing.comparison import ModelComparison
from kgtui.generation.comparing.curve_axes import plotted, quantity_axis, spent_axis
from kgtui.generation.comparing.curves import Curve, Quantity, Spent, curves_of
from kgtui.generation.reports.tables import cost_text, interval_text
from kgtui.state.format.plot import Axis

WIDTH, HEIGHT = 520, 220
"""Size of the area between the axes, in pixels."""
_X_TICKS, _Y_TICKS = 5, 5
Places: TypeAlias = tuple[tuple[int, int], ...]
_PERCENT = tuple((share / 4, f"{share * 25}%") for share in range(5))


@dataclass(frozen=True, kw_only=True)
class Bar:
    """One bar with its share of the full length; None if unknown."""

    label: str
    share: float | None
    text: str
    interval: Interval | None = None


@dataclass(frozen=True, kw_only=True)
class BarChart:
    """Bars under a title."""

    title: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True, kw_only=True)
class ChartLine:
    """One line: its name, colour index, and path in pixels from the upper left, with its points."""

    name: str
    colour: int
    path: Places
    points: Places


@dataclass(frozen=True, kw_only=True)
class Chart:
    """One chart: ticks with their positions in pixels, and a sentence for each line that is missing."""

    title: str
    note: str
    x_ticks: tuple[tuple[int, str], ...]
    y_ticks: tuple[tuple[int, str], ...]
    lines: tuple[ChartLine, ...]
    missing: tuple[str, ...] = ()


def correct_bars(shares: Sequence[tuple[str, Interval | None]]) -> BarChart:
    """Shares of correct answers with their intervals, by label."""
    bars = (
        Bar(label=label, share=None, text="nothing was run")
        if share is None
        else Bar(label=label, share=share.value, text=interval_text(share, percent=True), interval=share)
        for label, share in shares
    )
    return BarChart(title="Correct answers", bars=tuple(bars))


def cost_bars(comparison: ModelComparison) -> BarChart:
    """Cost of each model, against the most expensive one."""
    costs = [(metrics.model, metrics.cost) for metrics in comparison.metrics]
    most = max((cost.microusd for _, cost in costs), default=0) or 1
    bars = (
        Bar(label=model, share=None if cost.known_microusd is None else cost.microusd / most, text=cost_text(cost))
        for model, cost in costs
    )
    return BarChart(title="Cost", bars=tuple(bars))


def charts_of(comparison: ModelComparison) -> Iterator[Chart]:
    """Curves of solved operators and of speed-up against cost and answers, if there are any; then fast_p."""
    for quantity in Quantity:
        for spent in Spent:
            chart = curves_chart(curves_of(comparison, quantity, spent), quantity, spent)
            yield from (chart,) if chart is not None else ()
    chart = fast_chart([(metrics.model, metrics.rates.fast) for metrics in comparison.metrics])
    yield from (chart,) if chart is not None else ()


def curves_chart(curves: Sequence[Curve], quantity: Quantity, spent: Spent) -> Chart | None:
    """The chart of these curves; None if none has points."""
    drawn = [curve for curve in curves if curve.points]
    if not drawn:
        return None
    x = spent_axis(drawn, spent, most=_X_TICKS)
    y = quantity_axis(drawn, quantity, most=_Y_TICKS)
    lines = (
        _line(
            curve.model, place, plotted(curve, spent), x, y, before=curve.points[0][1] if spent is Spent.COST else None
        )
        for place, curve in enumerate(curves)
        if curve.points
    )
    return Chart(
        title=f"{str(quantity).capitalize()} against {spent} of each operator",
        note=_note(quantity, spent),
        x_ticks=tuple((x.place(value, WIDTH), text) for value, text in x.ticks),
        y_ticks=tuple((_y_pixels(y, value), text) for value, text in y.ticks),
        lines=tuple(lines),
        missing=tuple(f"{curve.model}: {curve.why}" for curve in curves if not curve.points),
    )


def fast_chart(shares: Sequence[tuple[str, Mapping[float, Interval]]]) -> Chart | None:
    """fast_p against p by label; None if nothing was timed."""
    timed = [(place, name, fast) for place, (name, fast) in enumerate(shares) if len(fast) > 1]
    if not timed:
        return None
    thresholds = sorted({p for _, _, fast in timed for p in fast})
    x = Axis(low=thresholds[0], high=thresholds[-1])
    y = Axis(low=0.0, high=1.0)
    return Chart(
        title="fast_p",
        note="Share of answers that are correct and more than p times as fast as eager, against p.",
        x_ticks=tuple((x.place(p, WIDTH), f"{p:g}") for p in thresholds),
        y_ticks=tuple((_y_pixels(y, share), text) for share, text in _PERCENT),
        lines=tuple(
            _line(name, place, [(p, fast[p].value) for p in sorted(fast)], x, y) for place, name, fast in timed
        ),
    )


def _note(quantity: Quantity, spent: Spent) -> str:
    reached = {
        Quantity.SOLVED: "Share of operators with a correct answer",
        Quantity.SPEEDUP: "Geometric mean of the best speed-ups, a failure counted as the baseline,",
    }
    where = {
        Spent.ANSWERS: "after at most x answers for each.",
        Spent.COST: "where at most x is spent on each (logarithmic scale).",
    }
    return f"{reached[quantity]} {where[spent]}"


def _line(
    name: str,
    colour: int,
    values: Sequence[tuple[float, float]],
    x: Axis,
    y: Axis,
    *,
    before: float | None = None,
) -> ChartLine:
    """Path with straight segments; or in steps from the left edge, where the value is `before`."""
    points = tuple((x.place(across, WIDTH), _y_pixels(y, value)) for across, value in values)
    if before is None:
        return ChartLine(name=name, colour=colour, path=points, points=points)
    edge = (0, _y_pixels(y, before))
    corners = (
        ((across, height), (across, after)) for (_, height), (across, after) in itertools.pairwise((edge, *points))
    )
    return ChartLine(name=name, colour=colour, path=(edge, *itertools.chain(*corners)), points=points)


def _y_pixels(y: Axis, value: float) -> int:
    """The vertical position in pixels from the top."""
    return HEIGHT - 1 - y.place(value, HEIGHT)
