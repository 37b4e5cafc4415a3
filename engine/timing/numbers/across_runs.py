"""Compares two runs by their speed-ups over the same baseline.

Two runs are timed at different times: clocks, temperature and other users of the device change in between, so a ratio
of their bare times means little.  Each was timed interleaved with its own baseline, and the ratio of these two
speed-ups cancels the baseline.  It is never more precise than both measurements: its interval contains the uncertainty
of either, and a difference below their joint resolution does not count.  Timing two candidates interleaved with each
other is better.
"""

from __future__ import annotations

import math

from engine.model.benchmark import Comparison, Interval, Standing
from engine.timing.numbers.statistics import standing

_OPPOSITE = {Standing.FASTER: Standing.SLOWER, Standing.SLOWER: Standing.FASTER, Standing.SAME: Standing.SAME}


def across_runs(earlier: Comparison, later: Comparison, *, name: str) -> Comparison:
    """How many times as fast the later run's candidate is as the earlier's, which is called `name`.

    The two intervals are independent, so their widths on the logarithmic scale add in squares; the resolution is that
    of both measurements combined.

    Raises:
        ValueError: they are of different baselines.
    """
    if earlier.baseline != later.baseline:
        raise ValueError(f"cannot compare speed-ups over different baselines ({earlier.baseline}, {later.baseline})")
    old, new = earlier.speedup, later.speedup
    value = new.value / old.value
    below = math.hypot(math.log(new.value / new.low), math.log(old.high / old.value))
    above = math.hypot(math.log(new.high / new.value), math.log(old.value / old.low))
    speedup = Interval(value=value, low=value * math.exp(-below), high=value * math.exp(above))
    resolution = (1 + earlier.resolution) * (1 + later.resolution) - 1
    return Comparison(baseline=name, speedup=speedup, resolution=resolution, standing=standing(speedup, resolution))


def inverted(comparison: Comparison, *, name: str) -> Comparison:
    """The inverse comparison: the candidate becomes the baseline, called `name`."""
    seen = comparison.speedup
    return Comparison(
        baseline=name,
        speedup=Interval(value=1 / seen.value, low=1 / seen.high, high=1 / seen.low),
        resolution=comparison.resolution,
        standing=_OPPOSITE[comparison.standing],
    )
