"""The numbers of a comparison against values worked by hand."""

from __future__ import annotations

import pytest

from kgtui.generation.comparing.statistics import (
    Average,
    average,
    bootstrap,
    estimated_total,
    holm,
    paired_p_value,
    pass_at_k,
    quantile,
)


@pytest.mark.parametrize(
    ("samples", "correct", "k", "expected"),
    [
        (1, 1, 1, 1.0),
        (10, 0, 5, 0.0),
        (10, 3, 1, 0.3),
        (10, 9, 2, 1.0),
        (5, 2, 2, 1 - 3 / 10),
        (10, 3, 5, 1 - 21 / 252),
    ],
)
def test_pass_at_k_is_the_unbiased_estimator(samples, correct, k, expected):
    assert pass_at_k(samples=samples, correct=correct, k=k) == pytest.approx(expected)


@pytest.mark.parametrize(("samples", "correct", "k"), [(3, 1, 4), (3, 1, 0), (3, 4, 1)])
def test_pass_at_k_with_too_few_samples_raises(samples, correct, k):
    with pytest.raises(ValueError, match="not defined"):
        pass_at_k(samples=samples, correct=correct, k=k)


@pytest.mark.parametrize("kind", Average)
def test_average_without_values_is_none(kind):
    assert average([], kind) is None


@pytest.mark.parametrize(("kind", "expected"), [(Average.ARITHMETIC, 5.0), (Average.GEOMETRIC, 4.0)])
def test_average_ignores_missing_values(kind, expected):
    assert average([2.0, None, 8.0], kind) == pytest.approx(expected)
    assert average([None, None], kind) is None


@pytest.mark.parametrize(
    ("speedups", "expected"),
    [([4.0, None], 2.0), ([None, None], 1.0), ([4.0], 4.0), ([0.25, None], 0.25)],
)
def test_failure_counts_as_baseline_without_raising(speedups, expected):
    assert average(speedups, Average.WITH_FAILURES) == pytest.approx(expected)


def test_quantiles_lie_between_neighbours():
    assert [quantile([1.0, 2.0, 3.0], share) for share in (0.0, 0.25, 0.5, 1.0)] == [1.0, 1.5, 2.0, 3.0]


def test_a_bootstrap_of_equal_values_has_no_width():
    found = bootstrap([0.5] * 4, Average.ARITHMETIC)
    assert (found.value, found.low, found.high) == (0.5, 0.5, 0.5)


def test_a_bootstrap_covers_its_value_and_repeats():
    values = [0.0, 1.0, 1.0, 0.0, 1.0]
    first, second = (bootstrap(values, Average.ARITHMETIC) for _ in range(2))
    assert first == second
    assert 0.0 <= first.low < 0.6 < first.high <= 1.0


def test_bootstrap_leaves_out_resamples_without_a_value():
    found = bootstrap([2.0, None], Average.GEOMETRIC)
    assert (found.value, found.low, found.high) == (pytest.approx(2.0),) * 3
    assert bootstrap([None], Average.GEOMETRIC) is None


def test_bootstrap_of_failures_reaches_down_to_baseline():
    found = bootstrap([4.0, None], Average.WITH_FAILURES)
    assert (found.low, found.value, found.high) == pytest.approx((1.0, 2.0, 4.0))


@pytest.mark.parametrize(
    ("differences", "expected"),
    [([], None), ([0.0, 0.0], None), ([1.0], 1.0), ([1.0, 1.0, 1.0, 1.0], 2 / 16), ([1.0, -1.0], 1.0)],
)
def test_a_paired_test_is_exact_for_few_pairs(differences, expected):
    assert paired_p_value(differences) == expected


def test_paired_test_of_many_equal_differences_is_small():
    assert paired_p_value([1.0] * 20) == pytest.approx(1 / 2001)


def test_holm_corrects_for_the_number_of_tests():
    assert holm([0.01, None, 0.04, 0.03]) == pytest.approx([0.03, None, 0.06, 0.06])


def test_holm_stays_below_one():
    assert holm([0.9, 0.8]) == [1.0, 1.0]


def test_an_estimate_of_equal_costs_is_exact():
    found = estimated_total([200, 200, 200], jobs=210)
    assert (found.low, found.value, found.high) == (42_000, 42_000, 42_000)


def test_an_estimate_of_scattered_costs_is_an_interval():
    found = estimated_total([100, 200, 300], jobs=210)
    assert found.low < found.value == 42_000 < found.high


def test_estimate_from_one_answer_is_none():
    assert estimated_total([200], jobs=10) is None
