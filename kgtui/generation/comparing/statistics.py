"""The numbers behind a comparison: unbiased pass@k, geometric means, bootstrap intervals, paired tests.

Randomness comes from a fixed seed, so the same generations always give the same report.  numpy is imported when it is
first used: a comparison of hundreds of operators resamples millions of values.
"""

from __future__ import annotations

import enum
import itertools
import math
import random
from collections.abc import Sequence
from typing import TYPE_CHECKING

from engine.model.benchmark import Interval

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

RESAMPLES = 2000
_SEED = 20_260
_EXACT_PAIRS = 14


def pass_at_k(*, samples: int, correct: int, k: int) -> float:
    """Probability that one of `k` of `samples` answers is correct, if `correct` of them are: 1 - C(n-c, k) / C(n, k).

    The unbiased estimator of Chen et al. 2021, "Evaluating Large Language Models Trained on Code".
    """
    if not 1 <= k <= samples or not 0 <= correct <= samples:
        raise ValueError(f"pass@{k} of {samples} samples with {correct} correct is not defined")
    return 1.0 - math.comb(samples - correct, k) / math.comb(samples, k)


class Average(enum.Enum):
    """Kind of average over operators, some of which may have no value (None)."""

    ARITHMETIC = enum.auto()
    """The arithmetic mean of the values."""
    GEOMETRIC = enum.auto()
    """The geometric mean of the values, which are above 0."""
    WITH_FAILURES = enum.auto()
    """The geometric mean in which None, a failure, counts as 1, or as the mean of the values if that is less than 1.

    So a failure never raises the mean.
    """


def average(values: Sequence[float | None], kind: Average) -> float | None:
    """The average of these values; None without values."""
    if not values:
        return None
    (value,) = _averages(_row(values)[None], kind)
    return None if math.isnan(value) else float(value)


def mean(values: Sequence[float]) -> float | None:
    """The arithmetic mean; None without values."""
    return math.fsum(values) / len(values) if values else None


def bootstrap(values: Sequence[float | None], kind: Average) -> Interval | None:
    """The average of `values`, one for each operator, with its 95 % percentile interval over resampled operators."""
    import numpy as np

    value = average(values, kind)
    if value is None:
        return None
    places = np.random.default_rng(_SEED).integers(len(values), size=(RESAMPLES, len(values)))
    drawn = _averages(_row(values)[places], kind)
    low, high = np.quantile(drawn[~np.isnan(drawn)], (0.025, 0.975))
    return Interval(value=value, low=min(value, float(low)), high=max(value, float(high)))


def quantile(ordered: Sequence[float], share: float) -> float:
    """The quantile of values in ascending order, interpolated linearly."""
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def paired_p_value(differences: Sequence[float]) -> float | None:
    """Two-sided p-value of a sign-flip permutation test of the mean; None if all differences are 0.
    Exact for up to 14 nonzero differences, else from random sign flips.
    """
    pairs = [one for one in differences if one != 0]
    if not pairs:
        return None
    observed = abs(math.fsum(pairs)) * (1 - 1e-12)
    if len(pairs) <= _EXACT_PAIRS:
        flips = list(itertools.product((1, -1), repeat=len(pairs)))
        return sum(_flipped(pairs, signs) >= observed for signs in flips) / len(flips)
    generator = random.Random(_SEED)
    extreme = sum(_flipped(pairs, generator.choices((1, -1), k=len(pairs))) >= observed for _ in range(RESAMPLES))
    return (extreme + 1) / (RESAMPLES + 1)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """P-values corrected for multiple tests by Holm's method; None stays None."""
    order = sorted((place for place, value in enumerate(p_values) if value is not None), key=lambda p: p_values[p] or 0)
    corrected: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, place in enumerate(order):
        largest = max(largest, min(1.0, (p_values[place] or 0.0) * (len(order) - rank)))
        corrected[place] = largest
    return corrected


def estimated_total(sample: Sequence[int], *, jobs: int) -> Interval | None:
    """Estimated sum over `jobs`, of which `sample` are known values, with a 95 % interval; None with fewer than two.

    Each resample draws a value for each job, from a resample of the sample: so both their spread and their small number
    widen the interval.
    """
    if len(sample) < 2:
        return None
    generator = random.Random(_SEED)
    totals = sorted(
        float(sum(generator.choices(generator.choices(sample, k=len(sample)), k=jobs))) for _ in range(RESAMPLES)
    )
    value = math.fsum(sample) / len(sample) * jobs
    return Interval(value=value, low=min(value, quantile(totals, 0.025)), high=max(value, quantile(totals, 0.975)))


def _flipped(pairs: Sequence[float], signs: Sequence[int]) -> float:
    return abs(math.fsum(sign * value for sign, value in zip(signs, pairs, strict=True)))


def _row(values: Sequence[float | None]) -> NDArray[float64]:
    """The values as an array; NaN for None."""
    import numpy as np

    return np.array([math.nan if value is None else value for value in values])


def _averages(rows: NDArray[float64], kind: Average) -> NDArray[float64]:
    """The average of each row; NaN for a row without values."""
    import numpy as np

    known = ~np.isnan(rows)
    counts, columns = known.sum(axis=1), rows.shape[1]
    values = rows if kind is Average.ARITHMETIC else np.log(rows)
    sums: NDArray[float64] = np.where(known, values, 0.0).sum(axis=1)
    if kind is Average.WITH_FAILURES:
        failed = np.minimum(0.0, sums / np.maximum(1, counts))
        sums, counts = sums + (columns - counts) * failed, np.full_like(counts, columns)
    with np.errstate(invalid="ignore"):  # a row without a value divides 0 by 0
        means: NDArray[float64] = sums / counts
    if kind is not Average.ARITHMETIC:
        np.exp(means, out=means)
    return means
