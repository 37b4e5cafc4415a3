"""Samples in, intervals out: honest coverage, enough power, and nothing that is no time."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import pytest

from engine.model.benchmark import Comparison, Interval, Standing
from engine.timing.numbers.statistics import (
    MIN_RESOLUTION,
    THRESHOLDS,
    abba_pairs,
    compare,
    median_interval,
    ratio_interval,
    summarise,
)

NO_TIMES = [math.nan, math.inf, -math.inf, 0.0, -1.0]
EQUAL = ((10.0, 10.0),) * 12


@pytest.fixture
def rng() -> random.Random:
    return random.Random(20)


def measured(
    rng: random.Random, *, rounds: int, slowdown: float = 1.0, noise: float = 0.005, jitter: float = 0.01
) -> list[tuple[float, float]]:
    """(candidate, baseline) medians of a device that drifts and is sometimes held up.

    The clock wanders for both sides, every batch is off by its own log-normal noise, calls vary by
    `jitter`, one call in thirty takes far longer, and so does one batch in a hundred.
    """
    drift, batches = 0.0, []
    for _ in range(rounds):
        drift += rng.gauss(0.0, 0.01)
        sides = (slowdown, 1.0, 1.0, slowdown)
        batches.append([_batch(rng, 50.0 * math.exp(drift) * side, noise, jitter) for side in sides])
    return abba_pairs(batches)


def _batch(rng: random.Random, median_us: float, noise: float, jitter: float) -> list[float]:
    held_up = rng.uniform(1.05, 1.5) if rng.random() < 0.01 else 1.0
    batch_us = median_us * held_up * math.exp(rng.gauss(0.0, noise))
    return [
        batch_us * math.exp(rng.gauss(0.0, jitter)) * (rng.uniform(1.5, 4.0) if rng.random() < 1 / 30 else 1.0)
        for _ in range(5)
    ]


def comparison(value: float, *, low: float | None = None, high: float | None = None, standing: Standing) -> Comparison:
    speedup = Interval(value=value, low=value if low is None else low, high=value if high is None else high)
    return Comparison(baseline="eager", speedup=speedup, resolution=0.01, standing=standing)


# A/A: coverage.


@pytest.mark.parametrize("rounds", [12, 16, 20])
def test_interval_of_side_against_itself_covers_one(rounds: int) -> None:
    rng = random.Random(rounds)
    intervals = [ratio_interval(measured(rng, rounds=rounds), rng=rng) for _ in range(500)]
    covering = sum(interval.low <= 1.0 <= interval.high for interval in intervals) / len(intervals)
    assert 0.96 <= covering <= 0.995


@pytest.mark.parametrize("rounds", [8, 12, 20])
def test_interval_covers_truth_with_two_percent_variation(rounds: int) -> None:
    rng = random.Random(rounds)
    intervals = [ratio_interval(measured(rng, rounds=rounds, jitter=0.02), rng=rng) for _ in range(400)]
    covering = sum(interval.low <= 1.0 <= interval.high for interval in intervals) / len(intervals)
    assert 0.95 <= covering <= 0.99


@pytest.mark.parametrize("rounds", [2, 3, 5, 8])
def test_few_rounds_widen_the_interval_instead_of_missing(rounds: int) -> None:
    rng = random.Random(rounds)
    intervals = [ratio_interval(measured(rng, rounds=rounds), rng=rng) for _ in range(500)]
    assert sum(interval.low <= 1.0 <= interval.high for interval in intervals) / len(intervals) >= 0.925


def test_median_interval_covers_median_of_further_rounds() -> None:
    rng = random.Random(4)
    covering = 0
    for _ in range(400):
        rounds = [[40.0 * math.exp(rng.gauss(0.0, 0.02) + rng.gauss(0.0, 0.01)) for _ in range(7)] for _ in range(15)]
        interval = median_interval(rounds, rng=rng)
        covering += interval.low <= 40.0 <= interval.high
    assert covering / 400 >= 0.95


# Power.


def test_three_percent_slower_is_called_slower() -> None:
    rng = random.Random(3)
    standings = [
        compare("eager", measured(rng, rounds=12, slowdown=1.03), measured(rng, rounds=12), rng).standing
        for _ in range(200)
    ]
    assert standings.count(Standing.SLOWER) >= 180
    assert Standing.FASTER not in standings


def test_three_percent_faster_is_called_faster() -> None:
    rng = random.Random(5)
    standings = [
        compare("eager", measured(rng, rounds=12, slowdown=1 / 1.03), measured(rng, rounds=12), rng).standing
        for _ in range(200)
    ]
    assert standings.count(Standing.FASTER) >= 180
    assert Standing.SLOWER not in standings


def test_equal_kernels_rarely_differ() -> None:
    rng = random.Random(6)
    standings = [compare("eager", measured(rng, rounds=12), measured(rng, rounds=12), rng).standing for _ in range(200)]
    assert standings.count(Standing.SAME) >= 195


# The ratio.


def test_ratio_above_one_means_first_is_faster(rng: random.Random) -> None:
    assert ratio_interval([(5.0, 10.0)] * 12, rng=rng) == Interval(value=2.0, low=2.0, high=2.0)


def test_swapping_the_sides_inverts_the_ratio() -> None:
    pairs = measured(random.Random(1), rounds=15, slowdown=1.2)
    there = ratio_interval(pairs, rng=random.Random(2))
    back = ratio_interval([(baseline, candidate) for candidate, baseline in pairs], rng=random.Random(2))
    assert back.value == pytest.approx(1 / there.value)


def test_drift_shared_by_both_sides_keeps_ratio(rng: random.Random) -> None:
    pairs = [(10.0 * 1.5**number, 20.0 * 1.5**number) for number in range(12)]
    interval = ratio_interval(pairs, rng=rng)
    assert (interval.value, interval.low, interval.high) == pytest.approx((2.0, 2.0, 2.0))


def test_one_outlier_round_of_twelve_hardly_moves_ratio(rng: random.Random) -> None:
    pairs = [(10.0, 20.0 + 0.01 * number) for number in range(11)] + [(10.0, 20000.0)]
    interval = ratio_interval(pairs, rng=rng)
    assert interval.value == pytest.approx(2.0, rel=0.005)
    assert interval.high < 2.1


def test_more_rounds_make_a_narrower_interval() -> None:
    few = ratio_interval(measured(random.Random(1), rounds=6), rng=random.Random(0))
    many = ratio_interval(measured(random.Random(1), rounds=60), rng=random.Random(0))
    assert many.high - many.low < (few.high - few.low) / 2


def test_same_pairs_and_generator_give_same_interval() -> None:
    pairs = measured(random.Random(8), rounds=12)
    assert ratio_interval(pairs, rng=random.Random(1)) == ratio_interval(pairs, rng=random.Random(1))


def test_a_ratio_beyond_every_number_is_refused(rng: random.Random) -> None:
    with pytest.raises(ValueError, match=r"between 1\.0 and inf are implausible"):
        ratio_interval([(1e-300, 1e300), (1.0, 1.0)], rng=rng)


def test_overflowing_interval_ends_at_largest_float(rng: random.Random) -> None:
    interval = ratio_interval([(1e150, 1e-150), (1e-150, 1e150)], rng=rng)
    assert 0.0 < interval.low < 1e-300
    assert 1e300 < interval.high < math.inf


def test_pairs_of_huge_spread_give_an_interval(rng: random.Random) -> None:
    interval = ratio_interval([(1e-3, 1e9), (1e9, 1e-3), (1.0, 1.0)], rng=rng)
    assert interval.low < 1.0 < interval.high
    assert interval.value == pytest.approx(1.0)


@pytest.mark.parametrize("pairs", [[], [(1.0, 2.0)]])
def test_ratio_of_fewer_than_two_rounds_is_refused(pairs: list[tuple[float, float]], rng: random.Random) -> None:
    with pytest.raises(ValueError, match=f"at least two rounds to have an interval, got {len(pairs)}"):
        ratio_interval(pairs, rng=rng)


@pytest.mark.parametrize("bad", NO_TIMES)
@pytest.mark.parametrize("side", [0, 1])
def test_pair_with_invalid_time_is_refused_and_named(bad: float, side: int, rng: random.Random) -> None:
    pair = (bad, 1.0) if side == 0 else (1.0, bad)
    with pytest.raises(ValueError, match=rf"sample {side + 1} of pair 2 is {bad} us; a time is finite and above zero"):
        ratio_interval([(1.0, 1.0), pair], rng=rng)


# The median.


def test_identical_samples_have_an_interval_without_width(rng: random.Random) -> None:
    interval = median_interval([[5.0, 5.0], [5.0]], rng=rng)
    assert interval.value == 5.0
    assert (interval.low, interval.high) == pytest.approx((5.0, 5.0))


def test_value_is_median_of_all_samples(rng: random.Random) -> None:
    assert median_interval([[1.0, 2.0, 3.0], [100.0]], rng=rng).value == 2.5


def test_unequal_rounds_keep_value_inside_its_interval(rng: random.Random) -> None:
    interval = median_interval([[1.0] * 50, [9.0], [9.1], [9.2], [9.3], [9.4], [9.5], [9.6]], rng=rng)
    assert interval.value == 1.0
    assert interval.low <= 1.0
    assert interval.high > 9.0


def test_single_round_uses_stretches_for_its_interval(rng: random.Random) -> None:
    samples = [10.0 + (number % 7) / 10 for number in range(100)]
    interval = median_interval([samples], rng=rng)
    assert interval.value == pytest.approx(10.3)
    assert 10.0 < interval.low <= 10.3 <= interval.high < 10.7


def test_drifting_round_is_less_certain_than_shuffled() -> None:
    drifting = [10.0 + number / 50 for number in range(100)]
    shuffled = random.Random(1).sample(drifting, k=100)
    drifted = median_interval([drifting], rng=random.Random(0))
    mixed = median_interval([shuffled], rng=random.Random(0))
    assert drifted.value == mixed.value
    assert drifted.high - drifted.low > 1.5 * (mixed.high - mixed.low)


def test_two_samples_give_a_wide_interval(rng: random.Random) -> None:
    interval = median_interval([[9.0, 11.0]], rng=rng)
    assert interval.value == 10.0
    # Student's t with one degree of freedom: about 11 times the distance of either sample.
    assert interval.low == pytest.approx(3.30, abs=0.01)
    assert interval.high == pytest.approx(30.0, abs=0.1)


def test_the_interval_stays_above_zero_whatever_the_spread(rng: random.Random) -> None:
    assert median_interval([[1e-6], [1e6], [1.0]], rng=rng).low > 0


def test_thousand_samples_draw_no_more_than_twenty_stretches(rng: random.Random) -> None:
    counted = Counting(1)
    median_interval([[1.0 + number / 1e4 for number in range(1000)]], rng=counted)
    assert counted.drawn == 1000 * 20


@pytest.mark.parametrize(
    ("rounds", "complaint"),
    [
        ([], "no round was timed"),
        ([[]], "round 1 has no samples"),
        ([[1.0], []], "round 2 has no samples"),
        ([[1.0]], "one sample has no spread"),
    ],
)
def test_too_little_for_a_median_is_refused(rounds: list[list[float]], complaint: str, rng: random.Random) -> None:
    with pytest.raises(ValueError, match=complaint):
        median_interval(rounds, rng=rng)


@pytest.mark.parametrize("bad", NO_TIMES)
def test_sample_with_invalid_time_is_refused_and_named(bad: float, rng: random.Random) -> None:
    with pytest.raises(ValueError, match=rf"sample 3 of round 2 is {bad} us"):
        median_interval([[1.0], [1.0, 1.0, bad]], rng=rng)


# The comparison.


@pytest.mark.parametrize("side", ["below", "above"])
def test_resolution_is_farthest_bound_of_self_comparison(side: str) -> None:
    self_pairs = [(10.0, 10.0 + number / 10) for number in range(12)]
    if side == "below":
        self_pairs = [(second, first) for first, second in self_pairs]
    found = compare("eager", EQUAL, self_pairs, random.Random(7))
    generator = random.Random(7)
    ratio_interval(EQUAL, rng=generator)
    against_itself = ratio_interval(self_pairs, rng=generator)
    farthest = 1 - against_itself.low if side == "below" else against_itself.high - 1
    assert found.resolution == farthest > MIN_RESOLUTION


def test_self_comparison_never_gives_resolution_below_least(rng: random.Random) -> None:
    assert compare("eager", EQUAL, EQUAL, rng).resolution == MIN_RESOLUTION


def test_coarse_clock_limits_resolution_of_short_calls(rng: random.Random) -> None:
    found = compare("eager", [(2.0, 2.032)] * 12, EQUAL, rng, tick_us=0.032)
    assert (found.resolution, found.standing) == (0.016, Standing.SAME)


@pytest.mark.parametrize(
    ("candidate", "standing"),
    [
        (9.0, Standing.FASTER),
        (9.94, Standing.FASTER),
        (9.96, Standing.SAME),
        (10.0, Standing.SAME),
        (10.04, Standing.SAME),
        (10.06, Standing.SLOWER),
        (20.0, Standing.SLOWER),
    ],
)
def test_difference_within_resolution_is_insignificant(
    candidate: float, standing: Standing, rng: random.Random
) -> None:
    assert compare("eager", [(candidate, 10.0)] * 12, EQUAL, rng).standing is standing


def test_speedup_interval_with_one_is_same(rng: random.Random) -> None:
    pairs = [(10.0, 20.0), (20.0, 10.0), (10.0, 19.0), (19.0, 10.0), (10.0, 18.0)]
    found = compare("eager", pairs, EQUAL, rng)
    assert found.speedup.value > 1.5
    assert found.standing is Standing.SAME


def test_a_comparison_carries_its_baseline_and_its_speedup(rng: random.Random) -> None:
    found = compare("cublas", [(5.0, 10.0)] * 12, EQUAL, rng)
    assert (found.baseline, found.speedup.value) == ("cublas", 2.0)


def test_self_comparison_of_one_round_is_refused(rng: random.Random) -> None:
    with pytest.raises(ValueError, match="at least two rounds"):
        compare("eager", EQUAL, [(1.0, 1.0)], rng)


# The summary.


def test_the_mean_of_speedups_is_geometric(rng: random.Random) -> None:
    found = summarise(
        "eager",
        {"a": comparison(4.0, standing=Standing.FASTER), "b": comparison(0.25, standing=Standing.SLOWER)},
        2,
        rng,
    )
    assert found.speedup.value == pytest.approx(1.0)
    assert (found.speedup.low, found.speedup.high) == pytest.approx((1.0, 1.0))


def test_one_case_alone_keeps_its_own_interval(rng: random.Random) -> None:
    found = summarise("eager", {"a": comparison(2.0, low=1.8, high=2.5, standing=Standing.FASTER)}, 1, rng).speedup
    assert found.value == pytest.approx(2.0)
    assert found.low == pytest.approx(1.8, rel=0.03)
    assert found.high == pytest.approx(2.5, rel=0.03)


def test_four_equal_cases_halve_the_width_of_one(rng: random.Random) -> None:
    each = comparison(1.0, low=1 / 1.2, high=1.2, standing=Standing.SAME)
    found = summarise("eager", dict.fromkeys("abcd", each), 4, rng).speedup
    assert math.log(found.high) == pytest.approx(math.log(1.2) / 2, rel=0.12)
    assert math.log(found.low) == pytest.approx(-math.log(1.2) / 2, rel=0.12)


def test_fast_counts_are_of_all_planned_cases(rng: random.Random) -> None:
    found = summarise(
        "eager",
        {
            "slow": comparison(0.5, standing=Standing.SLOWER),
            "as fast": comparison(1.0, standing=Standing.SAME),
            "at the threshold": comparison(1.1, standing=Standing.FASTER),
            "faster": comparison(1.6, standing=Standing.FASTER),
            "fastest": comparison(2.0, standing=Standing.FASTER),
        },
        9,
        rng,
    )
    assert (found.cases, found.planned, found.baseline) == (5, 9, "eager")
    assert found.fast == {"1.0": 4, "1.1": 3, "1.5": 2, "2.0": 1}
    assert tuple(found.fast) == THRESHOLDS


def test_case_without_difference_is_at_most_equal(rng: random.Random) -> None:
    found = summarise("eager", {"noisy": comparison(1.7, low=0.9, high=3.0, standing=Standing.SAME)}, 1, rng)
    assert found.fast == {"1.0": 1, "1.1": 0, "1.5": 0, "2.0": 0}


def test_slightly_slower_case_without_difference_is_not_equal(rng: random.Random) -> None:
    found = summarise("eager", {"a": comparison(0.999, low=0.99, high=1.01, standing=Standing.SAME)}, 1, rng)
    assert found.fast["1.0"] == 0


def test_a_summary_of_no_case_is_refused(rng: random.Random) -> None:
    with pytest.raises(ValueError, match="no case was compared with eager"):
        summarise("eager", {}, 3, rng)


def test_more_cases_than_planned_are_refused(rng: random.Random) -> None:
    with pytest.raises(ValueError, match="2 cases were compared with eager, but only 1 planned"):
        summarise("eager", dict.fromkeys("ab", comparison(1.0, standing=Standing.SAME)), 1, rng)


# ABBA.


def test_a_linear_drift_over_a_round_cancels() -> None:
    assert abba_pairs([[[10.0], [21.0], [22.0], [13.0]], [[1.0], [2.0], [3.0], [4.0]]]) == [(11.5, 21.5), (2.5, 2.5)]


def test_each_batch_counts_by_its_median() -> None:
    assert abba_pairs([[[1.0, 1.0, 90.0], [4.0], [4.0, 6.0], [3.0]]]) == [(2.0, 4.5)]


def test_no_rounds_make_no_pairs() -> None:
    assert abba_pairs([]) == []


@pytest.mark.parametrize("batches", [[], [[1.0]] * 3, [[1.0]] * 5])
def test_round_without_four_batches_is_refused(batches: list[list[float]]) -> None:
    with pytest.raises(ValueError, match=f"round 1 has {len(batches)} batches; A, B, B, A are four"):
        abba_pairs([batches])


@pytest.mark.parametrize("batch", [[], [math.nan], [1.0, 0.0]])
def test_batch_with_invalid_times_is_refused_and_named(batch: list[float]) -> None:
    with pytest.raises(ValueError, match="batch 3 of round 2"):
        abba_pairs([[[1.0]] * 4, [[1.0], [1.0], batch, [1.0]]])


class Counting(random.Random):
    """Counts how many values were drawn by `choices`."""

    drawn = 0

    def choices(self, population: Sequence[float], *args: object, k: int = 1, **kwargs: object) -> list[float]:  # type: ignore[override]
        self.drawn += k
        return super().choices(population, k=k)
