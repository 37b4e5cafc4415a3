"""Products and sums that are rounded once, against exact fractions."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from engine.machine.fused import fused_multiply_add

EDGES = [0.0, -0.0, 1.0, -1.0, 3.0, 1 + 2.0**-52, 1 - 2.0**-53, 2.0**-1074, -(2.0**-1022), 2.0**1023, 1.1, -(2.0**-537)]


def exact(a: float, b: float, c: float) -> float:
    try:
        return float(Fraction(a) * Fraction(b) + Fraction(c))
    except OverflowError:
        return float("inf") if Fraction(a) * Fraction(b) + Fraction(c) > 0 else float("-inf")


def test_random_numbers_are_rounded_once() -> None:
    rng = np.random.default_rng(7)
    a, b, c = rng.standard_normal((3, 4000))
    c[::2] = -(a * b)[::2] * (1 + rng.integers(-3, 4, 2000) * 2.0**-52)
    expected = [exact(*numbers) for numbers in zip(a, b, c, strict=True)]
    assert fused_multiply_add(a, b, c).tolist() == expected
    assert (a * b + c).tolist() != expected


def test_edges_are_rounded_once_in_every_combination() -> None:
    a, b, c = np.array(list(itertools.product(EDGES, repeat=3))).T
    expected = [exact(*numbers) for numbers in zip(a, b, c, strict=True)]
    assert fused_multiply_add(a, b, c).tolist() == expected


def test_halfway_sum_is_rounded_by_the_lost_digits() -> None:
    # 1 + 2**-53 is halfway between two numbers; 2**-120 decides.
    a, b = np.array([1 + 2.0**-52]), np.array([1 - 2.0**-52])
    assert fused_multiply_add(a, b, np.array([2.0**-53])).tolist() == [exact(a[0], b[0], 2.0**-53)]


@pytest.mark.parametrize("c", [1.0, 1e-310])
def test_numbers_without_dimensions_are_rounded_once(c: float) -> None:
    assert fused_multiply_add(np.array(1.1), np.array(3.0), np.array(c)) == exact(1.1, 3.0, c)


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ((-0.0, 1.0, -0.0), "-0.0"),
        ((-0.0, 1.0, 0.0), "0.0"),
        ((2.0, 3.0, -6.0), "0.0"),
        ((np.inf, 0.0, 1.0), "nan"),
        ((np.inf, 2.0, 1.0), "inf"),
        ((1.0, 2.0, np.nan), "nan"),
        ((1e300, 1e300, -np.inf), "-inf"),
    ],
)
def test_zeros_and_nonfinite_numbers_follow_the_standard(numbers: tuple[float, ...], expected: str) -> None:
    a, b, c = (np.array([number]) for number in numbers)
    assert str(float(fused_multiply_add(a, b, c)[0])) == expected
