"""Distributions of samples, and the plot of bench cases over their sizes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.model import Candidate
from engine.reports.reducer import reduce_all
from engine.reports.run_record import NO_RUN
from kgtui.state.bench.distribution import distribution
from kgtui.state.bench.measurements import Measurements, Trust, measured
from kgtui.state.bench.sizes import (
    ROOFLINE,
    Measure,
    Over,
    PlotAxes,
    SizesPicture,
    first_measure,
    legend,
    series_of,
)
from kgtui.state.format.glyphs import ASCII, UNICODE
from kgtui.state.format.lines import plain_text
from tests.kgtui import fakes
from tests.kgtui.fakes import timed_runs


def test_distribution_counts_samples_and_separates_outliers() -> None:
    known = distribution((1.0, 1.0, 1.1, 1.1, 1.1, 1.2, 9.0), bins=3)
    assert known is not None
    assert (sum(known.counts), known.beyond, known.low) == (6, 1, 1.0)
    assert len(known.strip(UNICODE)) == 3


def test_equal_samples_are_one_bar() -> None:
    known = distribution((2.0, 2.0, 2.0), bins=4)
    assert known is not None and (known.counts, known.strip(ASCII)) == ((3, 0, 0, 0), "#   ")
    assert distribution((2.0,), bins=4) is None


# The bench cases


@pytest.fixture
def measurements() -> Measurements:
    plan = timed_runs.bench_plan(timed_runs.timed_problem())
    candidate = Candidate(source=fakes.SOURCE, problem=plan.problem.name)
    return measured(reduce_all(NO_RUN, timed_runs.two_baselines(candidate, plan)), number=1)


def names(measurements: Measurements, plot_axes: PlotAxes) -> dict[str, tuple[float, ...]]:
    found = series_of(timed_runs.timed_problem(), measurements, plot_axes, glyphs=UNICODE)
    return {one.name: tuple(point.y for point in one.points) for one in found}


def test_time_is_shown_as_bandwidth_operations_or_itself(measurements: Measurements) -> None:
    shown = {measure: names(measurements, PlotAxes(measure=measure)) for measure in Measure}
    assert shown[Measure.BANDWIDTH]["candidate"][2] == pytest.approx(0.832 * 2900)
    assert shown[Measure.BANDWIDTH][ROOFLINE] == pytest.approx((2900.0,) * 5)
    assert shown[Measure.FLOPS]["candidate"][2] == pytest.approx(0.832 * 2900 * 5 / 8 / 1000)
    assert shown[Measure.TIME]["candidate"][2] == pytest.approx(2 * 4096 * 4096 * 4 / 2.9e6 / 0.832)


def test_mostly_compute_bound_cases_show_operations_first(measurements: Measurements) -> None:
    from engine.model.benchmark import Bound

    assert first_measure(measurements) is Measure.BANDWIDTH
    bound = tuple(
        replace(one, benchmark=replace(one.benchmark, floor=replace(one.benchmark.floor, bound=Bound.COMPUTE)))
        for one in measurements.cases
        if one.benchmark.floor
    )
    assert first_measure(replace(measurements, cases=bound)) is Measure.FLOPS


@pytest.mark.parametrize(
    ("trust", "stale", "shown"),
    [
        (Trust.CREDIBLE, False, "candidate"),
        (Trust.CREDIBLE, True, "candidate, stale"),
        (Trust.FLAGGED, False, "⚑ candidate, flagged"),
        (Trust.WRONG, False, None),
    ],
)
def test_candidate_is_plotted_by_state_unless_wrong(
    measurements: Measurements, trust: Trust, stale: bool, shown: str | None
) -> None:
    cases = tuple(replace(one, trust=trust, stale=stale) for one in measurements.cases)
    found = names(replace(measurements, cases=cases), PlotAxes(measure=Measure.TIME))
    assert [name for name in found if "candidate" in name] == ([shown] if shown else [])
    assert {"eager", "compile", ROOFLINE} <= set(found)


def test_legend_lists_candidate_baselines_and_roofline(measurements: Measurements) -> None:
    plot_axes = PlotAxes(measure=Measure.BANDWIDTH, over=Over.ORDER)
    found = series_of(timed_runs.timed_problem(), measurements, plot_axes, glyphs=ASCII)
    assert plain_text((legend(found, plot_axes, glyphs=ASCII),)) == (
        "bandwidth, GB/s by case  * candidate  o eager  + compile  - - roofline"
    )


def test_cases_are_named_under_points_in_order(measurements: Measurements) -> None:
    plot_axes, problem = PlotAxes(measure=Measure.BANDWIDTH, over=Over.ORDER), timed_runs.timed_problem()
    found = series_of(problem, measurements, plot_axes, glyphs=ASCII)
    lines = plain_text(
        SizesPicture(problem=problem, series=found, plot_axes=plot_axes, glyphs=ASCII).lines(width=78, height=12)
    ).splitlines()
    assert len(lines) == 12
    assert lines[-1].strip().startswith("1024x256 f32  4096x781 f32")
    assert lines[-1].endswith("1024x256 bf16 16384x8192 b~")


def test_problem_without_computation_has_no_operations_plot(measurements: Measurements) -> None:
    problem, plot_axes = timed_runs.timed_problem(), PlotAxes(measure=Measure.FLOPS)
    copying = replace(
        problem, cost_by_case={name: replace(cost, flops=0) for name, cost in problem.cost_by_case.items()}
    )
    found = series_of(copying, measurements, plot_axes, glyphs=UNICODE)
    text = plain_text(
        SizesPicture(problem=copying, series=found, plot_axes=plot_axes, glyphs=UNICODE).lines(width=78, height=12)
    )
    assert text == "nothing to plot: no timed case has operations in its cost; m shows another measure"
