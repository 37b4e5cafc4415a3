"""Tolerances lie between what honest rounding costs and what one precision step down costs."""

from __future__ import annotations

import pytest

from engine.model import DType
from problems.kit import BF16, EXACT, F16, F32, FLOATS, cancelling, rounded

TF32_STEP = 2.0**-11
BF16_STEP = 2.0**-9


@pytest.mark.parametrize("tolerance", [rounded(DType.INT64, terms=100), cancelling(DType.INT32), rounded(DType.BOOL)])
def test_integers_are_compared_exactly(tolerance: object) -> None:
    assert tolerance == EXACT


@pytest.mark.parametrize("dtype", FLOATS)
def test_two_units_in_last_place_are_allowed(dtype: DType) -> None:
    assert rounded(dtype).relative >= 2 * dtype.epsilon
    assert cancelling(dtype).relative >= 2 * dtype.epsilon


@pytest.mark.parametrize("terms", [1, 1000, 131072])
def test_float32_tolerances_stay_under_the_error_of_tf32(terms: int) -> None:
    tolerance = rounded(F32, terms=terms)
    assert tolerance.relative + tolerance.absolute < TF32_STEP
    assert cancelling(F32).relative + cancelling(F32).absolute < TF32_STEP


def test_float16_tolerance_is_below_bfloat16_rounding_error() -> None:
    assert rounded(F16, roundings=1).relative < 2 * BF16_STEP


def test_each_rounding_and_each_term_allow_more() -> None:
    assert rounded(BF16, roundings=2).relative > rounded(BF16).relative
    assert rounded(F32, terms=100).relative > rounded(F32).relative
    assert rounded(F32, terms=100).absolute > rounded(F32).absolute


def test_a_sum_of_nothing_has_a_tolerance_too() -> None:
    assert rounded(F32, terms=0).relative == 10 * F32.epsilon
    assert rounded(F32, terms=0).absolute == rounded(F32, terms=1).absolute


@pytest.mark.parametrize("dtype", [DType.FLOAT64, DType.COMPLEX128])
def test_double_tolerances_stay_under_the_error_of_float32(dtype: DType) -> None:
    tolerance = rounded(dtype, terms=131072)
    assert tolerance.relative + tolerance.absolute < F32.epsilon / 8
    assert rounded(dtype, terms=0).relative == 10 * dtype.epsilon
