"""Two runs by their speed-ups: the ratio, what it is unsure of, and what is no difference."""

from __future__ import annotations

import math

import pytest

from engine.model.benchmark import Comparison, Interval, Standing
from engine.timing.numbers.across_runs import across_runs, inverted


def over(baseline: str, value: float, *, low: float, high: float, resolution: float = 0.01) -> Comparison:
    speedup = Interval(value=value, low=low, high=high)
    return Comparison(baseline=baseline, speedup=speedup, resolution=resolution, standing=Standing.FASTER)


def test_ratio_of_speedups_combines_widths_in_squares() -> None:
    found = across_runs(over("eager", 2.0, low=1.9, high=2.2), over("eager", 3.0, low=2.7, high=3.1), name="#7")
    assert (found.baseline, found.speedup.value, found.standing) == ("#7", 1.5, Standing.FASTER)
    assert found.speedup.low == pytest.approx(1.5 * math.exp(-math.hypot(math.log(3 / 2.7), math.log(1.1))))
    assert found.speedup.high == pytest.approx(1.5 * math.exp(math.hypot(math.log(3.1 / 3), math.log(2 / 1.9))))


def test_difference_below_both_resolutions_is_insignificant() -> None:
    still = over("eager", 1.0, low=1.0, high=1.0, resolution=0.02)
    found = across_runs(still, over("eager", 1.04, low=1.04, high=1.04, resolution=0.02), name="")
    assert found.resolution == pytest.approx(0.0404)
    assert found.standing is Standing.SAME


def test_difference_counts_only_with_its_whole_interval() -> None:
    wide, narrow = over("eager", 1.1, low=0.95, high=1.2), over("eager", 1.1, low=1.08, high=1.12)
    still = over("eager", 1.0, low=0.99, high=1.01)
    assert across_runs(still, wide, name="").standing is Standing.SAME
    assert across_runs(still, narrow, name="").standing is Standing.FASTER
    assert across_runs(narrow, still, name="").standing is Standing.SLOWER


def test_speed_ups_over_different_baselines_are_not_compared() -> None:
    with pytest.raises(ValueError, match=r"cannot compare speed-ups over different baselines \(eager, compile\)"):
        across_runs(over("eager", 1.0, low=1.0, high=1.0), over("compile", 1.0, low=1.0, high=1.0), name="")


def test_reversed_comparison_inverts_the_interval() -> None:
    found = inverted(over("other", 2.0, low=1.6, high=2.5), name="#9")
    assert found.speedup == Interval(value=0.5, low=0.4, high=0.625)
    assert (found.baseline, found.standing, found.resolution) == ("#9", Standing.SLOWER, 0.01)
