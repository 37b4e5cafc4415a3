"""The numbers behind a comparison: unbiased pass@k, geometric means, bootstrap intervals, paired tests.

Randomness comes from a fixed seed, so the same generations always give the same report.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Sequence

from engine.model.benchmark import Interval

RESAMPLES = 2000
_SEED = 20_260
_EXACT_PAIRS = 14
_LEVEL = 0.95


def pass_at_k(*, samples: int, correct: int, k: int) -> float:
    """Probability that one of `k` of `samples` answers is correct, of which `correct` are: 1 - C(n-c, k) / C(n, k).

    The unbiased estimator of Chen et al. 2021, "Evaluating Large Language Models Trained on Code".
    """
    if not 1 <= k <= samples or not 0 <= correct <= samples:
        raise ValueError(f"pass@{k} of {samples} samples with {correct} correct is not defined")
    return 1.0 - math.comb(samples - correct, k) / math.comb(samples, k)


def geometric_mean(values: Sequence[float]) -> float | None:
    """The geometric mean of numbers above 0; None of none."""
    return math.exp(math.fsum(map(math.log, values)) / len(values)) if values else None


def mean(values: Sequence[float]) -> float | None:
    """The arithmetic mean; None of none."""
    return math.fsum(values) / len(values) if values else None


def mean_with_failures(speedups: Sequence[float | None]) -> float | None:
    """The geometric mean where a failure, None, counts as the baseline: 1, or less where the others are slower.

    So a failure never raises the mean.
    """
    correct = [value for value in speedups if value is not None]
    over_correct = geometric_mean(correct)
    if not speedups:
        return None
    failed = min(1.0, over_correct) if over_correct is not None else 1.0
    return geometric_mean([failed if value is None else value for value in speedups])


def bootstrap(
    units: Sequence[float | None], statistic: Callable[[Sequence[float | None]], float | None]
) -> Interval | None:
    """The statistic of `units`, one for each operator, with its 95 % percentile interval over resampled operators."""
    value = statistic(units)
    if value is None:
        return None
    generator = random.Random(_SEED)
    drawn = (statistic(generator.choices(units, k=len(units))) for _ in range(RESAMPLES))
    found = sorted(one for one in drawn if one is not None)
    return Interval(value=value, low=min(value, quantile(found, 0.025)), high=max(value, quantile(found, 0.975)))


def quantile(ordered: Sequence[float], share: float) -> float:
    """The quantile of values in ascending order, between two of them in proportion."""
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def paired_p_value(differences: Sequence[float]) -> float | None:
    """Two-sided p-value of a sign-flip permutation test of the mean; None where all differences are 0.

    Exact for up to 14 differences that are not 0, else from random sign flips.
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
    """P-values corrected for their number by Holm's method; None stays None."""
    order = sorted((place for place, value in enumerate(p_values) if value is not None), key=lambda p: p_values[p] or 0)
    corrected: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, place in enumerate(order):
        largest = max(largest, min(1.0, (p_values[place] or 0.0) * (len(order) - rank)))
        corrected[place] = largest
    return corrected


def estimated_total(sample: Sequence[int], *, jobs: int) -> Interval | None:
    """The sum over `jobs` of which `sample` are the values known so far, with a 95 % interval; None without two.

    Each resample draws a value for each job, from a resample of the sample: both how they scatter and how few of them
    are known widens the interval.
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
