"""From raw samples to medians, ratios and summaries with their uncertainty.

Every time and speed-up on the screen is computed here, in the parent, from the samples themselves: no number that a
child process computed is used.  All intervals cover 95 % and come from a bootstrap over rounds, not over samples: calls
of the same round share clocks, temperature and cache state, so resampling them would claim more precision than was
measured.  The random number generator is an argument.  Samples that no clock can give (empty, not finite, zero or
negative) are never averaged; they are a ValueError, which the caller turns into a finding.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Mapping, Sequence
from itertools import pairwise

from engine.model.benchmark import Comparison, Interval, Standing, Summary

RESAMPLES = 1000
THRESHOLDS = ("1.0", "1.1", "1.5", "2.0")
MIN_RESOLUTION = 0.005
"""The finest resolution of any A/A run.

It runs in one process, so it does not include differences between processes (addresses of buffers, clocks reached), and
half a percent is below what matters in practice.
"""

_MARGIN = 1.2
"""Factor on the width of every bootstrap interval.

Without it the interval of a side against itself covers 1.0 hardly more often than the nominal 95 %, for 16 to 20 rounds
less often; see the simulation in the tests.
"""
_BLOCKS = 20  # a single round is cut into this many parts
_FARTHEST = 700.0  # the largest logarithm whose exponential is a number
_ROUNDING = 1e-12  # keeps a difference of exactly the resolution inside it
_NORMAL = 1.95996  # the 97.5 % quantile of the normal distribution
_STUDENT = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
"""The 97.5 % quantiles of Student's t for 1 to 30 degrees of freedom."""


def median_interval(rounds: Sequence[Sequence[float]], *, rng: random.Random) -> Interval:
    """The median of all samples, with an interval from the medians of the rounds.

    The bootstrap takes the median of the resampled rounds' medians, not of their pooled samples: each round then has
    the same weight however many calls fitted into it, and a resample sorts only as many numbers as there are rounds.  A
    single round is cut into consecutive parts that replace rounds, which does not include the spread between rounds.
    The interval is widened to contain the value.

    Raises:
        ValueError: no round, fewer than two samples, an empty round, or a sample that is not a time.
    """
    if not rounds:
        raise ValueError("no round was timed: there is no median; time at least one round of two calls")
    for number, samples in enumerate(rounds, start=1):
        _require_times(samples, f"round {number}")
    pooled = [sample for samples in rounds for sample in samples]
    if len(pooled) < 2:
        raise ValueError("one sample has no spread, so no interval; time at least two calls")
    if len(rounds) == 1:
        rounds = _stretches(pooled)
    value = statistics.median(pooled)
    low, high = _interval_of_median([math.log(statistics.median(samples)) for samples in rounds], rng)
    return Interval(value=value, low=min(value, low), high=max(value, high))


def ratio_interval(pairs: Sequence[tuple[float, float]], *, rng: random.Random) -> Interval:
    """How many times as fast the first of each pair is: the median over rounds of second over first.

    A pair holds the (candidate, baseline) medians of the same round, so that clocks and temperature,
    which drift for both, cancel before anything is compared.

    Raises:
        ValueError: fewer than two pairs, or a value that is not a time.
    """
    if len(pairs) < 2:
        raise ValueError(f"a ratio needs at least two rounds to have an interval, got {len(pairs)}; time more rounds")
    for number, pair in enumerate(pairs, start=1):
        _require_times(pair, f"pair {number}")
    ratios = sorted(baseline / candidate for candidate, baseline in pairs)
    if not 0.0 < ratios[0] <= ratios[-1] < math.inf:
        raise ValueError(f"ratios between {ratios[0]} and {ratios[-1]} are implausible; check the samples")
    value = math.sqrt(ratios[(len(ratios) - 1) // 2] * ratios[len(ratios) // 2])  # the middle, also of an even number
    low, high = _interval_of_median([math.log(ratio) for ratio in ratios], rng)
    return Interval(value=value, low=min(value, low), high=max(value, high))


def compare(
    baseline: str,
    pairs: Sequence[tuple[float, float]],
    self_pairs: Sequence[tuple[float, float]],
    rng: random.Random,
    *,
    tick_us: float = 0.0,
) -> Comparison:
    """The candidate against `baseline`, and whether the difference counts.

    `pairs` are (candidate, baseline) medians by round; `self_pairs` the candidate against itself in the same
    interleaving (A/A).  The resolution is the farthest point of the A/A interval from 1, but never below
    MIN_RESOLUTION, nor below one `tick_us` of the clock in the shorter of the two times.

    Raises:
        ValueError: as `ratio_interval`, for either of the two.
    """
    speedup = ratio_interval(pairs, rng=rng)
    against_itself = ratio_interval(self_pairs, rng=rng)
    shortest_us = min(min(pair) for pair in pairs)
    resolution = max(1.0 - against_itself.low, against_itself.high - 1.0, tick_us / shortest_us, MIN_RESOLUTION)
    return Comparison(baseline=baseline, speedup=speedup, resolution=resolution, standing=standing(speedup, resolution))


def summarise(baseline: str, comparison_by_case: Mapping[str, Comparison], planned: int, rng: random.Random) -> Summary:
    """The geometric mean of the cases' speed-ups, and how many of the `planned` cases are fast.

    The mean's interval is a parametric bootstrap: every case is drawn from a log-normal as wide as its own interval,
    each side separately, and the draws of all cases are averaged.  It shows how precisely these cases were measured,
    not the result for another choice of cases.  A case that is wrong or was not timed is in `planned` alone and counts
    as not fast; one without a difference is at most 1.0.

    Raises:
        ValueError: no case was compared, or more than were planned.
    """
    if not comparison_by_case:
        raise ValueError(f"no case was compared with {baseline}: there is no mean; verify and time at least one")
    if len(comparison_by_case) > planned:
        raise ValueError(f"{len(comparison_by_case)} cases were compared with {baseline}, but only {planned} planned")
    comparisons = tuple(comparison_by_case.values())
    return Summary(
        baseline=baseline,
        speedup=_geometric_mean([comparison.speedup for comparison in comparisons], rng),
        cases=len(comparisons),
        planned=planned,
        fast={threshold: sum(_is_fast(each, float(threshold)) for each in comparisons) for threshold in THRESHOLDS},
    )


def abba_pairs(rounds: Sequence[Sequence[Sequence[float]]]) -> list[tuple[float, float]]:
    """One (a, b) pair a round from its batches of samples, timed in the order A, B, B, A.

    Each side's time is the mean of its two batch medians, not the median of both batches together: the mean cancels a
    drift that is linear over the round, the median would jump between the two batches.

    Raises:
        ValueError: a round without four batches, an empty batch, or a sample that is not a time.
    """
    return [_abba_pair(batches, number) for number, batches in enumerate(rounds, start=1)]


def standing(speedup: Interval, resolution: float) -> Standing:
    """Standing of a speed-up: SAME within the resolution, or if its interval contains 1."""
    if speedup.low <= 1.0 <= speedup.high or abs(speedup.value - 1.0) <= resolution + _ROUNDING:
        return Standing.SAME
    return Standing.FASTER if speedup.value > 1.0 else Standing.SLOWER


def _abba_pair(batches: Sequence[Sequence[float]], number: int) -> tuple[float, float]:
    if len(batches) != 4:
        raise ValueError(f"round {number} has {len(batches)} batches; A, B, B, A are four")
    for place, samples in enumerate(batches, start=1):
        _require_times(samples, f"batch {place} of round {number}")
    first_a, first_b, second_b, second_a = map(statistics.median, batches)
    return (first_a + second_a) / 2, (first_b + second_b) / 2


def _is_fast(comparison: Comparison, threshold: float) -> bool:
    """Whether it is at least `threshold` times as fast; above 1.0 the difference must count, too."""
    counts = threshold <= 1.0 or comparison.standing is Standing.FASTER
    return counts and comparison.speedup.value >= threshold


def _geometric_mean(intervals: Sequence[Interval], rng: random.Random) -> Interval:
    centre_and_spreads = [_log_spreads(interval) for interval in intervals]
    value = statistics.fmean(centre for centre, _, _ in centre_and_spreads)
    draws: list[float] = []
    for _ in range(RESAMPLES):
        total = 0.0
        for centre, below, above in centre_and_spreads:
            deviation = rng.gauss(0.0, 1.0)
            total += centre + deviation * (below if deviation < 0 else above)
        draws.append(total / len(intervals))
    low, high = _percentiles(draws)
    return Interval(value=_exponential(value), low=_exponential(min(low, value)), high=_exponential(max(high, value)))


def _log_spreads(interval: Interval) -> tuple[float, float, float]:
    """The logarithm of the value, and the standard deviations below and above it."""
    low, value, high = math.log(interval.low), math.log(interval.value), math.log(interval.high)
    return value, (value - low) / _NORMAL, (high - value) / _NORMAL


def _interval_of_median(logarithms: Sequence[float], rng: random.Random) -> tuple[float, float]:
    """The 95 % interval of the median of two or more values, from and as logarithms.

    An expanded percentile bootstrap (Hesterberg, "What Teachers Should Know About the Bootstrap", The American
    Statistician 69, 2015): the plain percentile interval of a few values is too narrow, and which of its sides is the
    longer one is chance.  Its width is distributed evenly about the median, and multiplied by the ratio of Student's t
    to the normal quantile and by that of the standard deviations with divisors n - 1 and n; both approach 1 as values
    are added.  _MARGIN stays.
    """
    count, centre = len(logarithms), statistics.median(logarithms)
    low, high = _percentiles([_median_of(rng.choices(logarithms, k=count)) for _ in range(RESAMPLES)])
    student = _STUDENT[count - 2] if count - 2 < len(_STUDENT) else _NORMAL + 2.5 / (count - 1)
    half = _MARGIN * student / _NORMAL * math.sqrt(count / (count - 1)) * (high - low) / 2
    return _exponential(centre - half), _exponential(centre + half)


def _exponential(logarithm: float) -> float:
    """Finite and above zero for every logarithm; larger values make no difference to a reader."""
    return math.exp(max(-_FARTHEST, min(_FARTHEST, logarithm)))


def _median_of(values: list[float]) -> float:
    """As `statistics.median`, which is several times slower; this is the inner loop."""
    values.sort()
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2


def _percentiles(draws: list[float]) -> tuple[float, float]:
    """The 2.5 % and the 97.5 % percentile."""
    draws.sort()
    outside = round(0.025 * len(draws))
    return draws[outside], draws[-1 - outside]


def _stretches(samples: Sequence[float]) -> list[Sequence[float]]:
    """The samples cut into at most _BLOCKS consecutive parts of almost equal length."""
    count = min(_BLOCKS, len(samples))
    bounds = [len(samples) * number // count for number in range(count + 1)]
    return [samples[begin:end] for begin, end in pairwise(bounds)]


def _require_times(samples: Sequence[float], where: str) -> None:
    """Raise ValueError unless there are samples, all finite and above zero."""
    if not samples:
        raise ValueError(f"{where} has no samples; every round needs at least one timed call")
    for number, sample in enumerate(samples, start=1):
        if not (math.isfinite(sample) and sample > 0):
            raise ValueError(f"sample {number} of {where} is {sample} us; a time is finite and above zero")
