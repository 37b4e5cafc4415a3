"""a * b + c of float64 numbers, rounded once, as the hardware's fused operation.

Where no part of the product can overflow or become subnormal, the sum is made of rounded pieces and rounded to odd
before the last addition (S. Boldo, G. Melquiond: Emulation of a FMA and correctly rounded sums: proved algorithms using
rounding to odd, IEEE Transactions on Computers 57, 2008). Other finite numbers are computed as fractions, one by one.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Numbers: TypeAlias = npt.NDArray[np.float64]

_LEAST, _MOST = 2.0**-400, 2.0**400
_SPLIT = 2.0**27 + 1.0


def fused_multiply_add(a: Numbers, b: Numbers, c: Numbers) -> Numbers:
    """a * b + c, rounded once to nearest even; the three are broadcast to one shape."""
    a, b, c = np.broadcast_arrays(a, b, c)
    with np.errstate(all="ignore"):
        product_is_finite = np.isfinite(a) & np.isfinite(b)
        rounded_twice = np.where(product_is_finite & np.isinf(c), c, a * b + c)
        result = _of_pieces(a, b, c)
        finite = product_is_finite & np.isfinite(c)
        rare = finite & ~(_is_moderate(a) & _is_moderate(b) & _is_moderate(c))
    # An exact zero is the sum of an exact product and -c, whose sign the plain operations get right.
    result = np.where(finite & (result != 0), result, rounded_twice)
    for at in map(tuple, np.argwhere(rare)):
        result[at] = _of_fractions(float(a[at]), float(b[at]), float(c[at]), otherwise=float(rounded_twice[at]))
    return result


def _is_moderate(numbers: Numbers) -> npt.NDArray[np.bool_]:
    size = np.abs(numbers)
    return np.asarray((size == 0) | ((size >= _LEAST) & (size <= _MOST)))


def _of_pieces(a: Numbers, b: Numbers, c: Numbers) -> Numbers:
    product, product_error = _two_product(a, b)
    low, low_error = two_sum(c, product_error)
    high, high_error = two_sum(product, low)
    return high + _sum_rounded_to_odd(low_error, high_error)


def two_sum(a: Numbers, b: Numbers) -> tuple[Numbers, Numbers]:
    """The rounded sum, and its error, which is a float64 too (D. Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _two_product(a: Numbers, b: Numbers) -> tuple[Numbers, Numbers]:
    """The rounded product, and its error, which is a float64 too (T. Dekker)."""
    a_high, a_low = _halves(a)
    b_high, b_low = _halves(b)
    product = a * b
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


def _halves(numbers: Numbers) -> tuple[Numbers, Numbers]:
    """Two numbers of at most 26 bits with this sum (G. Veltkamp)."""
    scaled = _SPLIT * numbers
    high = scaled - (scaled - numbers)
    return high, numbers - high


def _sum_rounded_to_odd(a: Numbers, b: Numbers) -> Numbers:
    """The sum if it is exact, else the one of its two neighbours whose last bit is set."""
    total, error = two_sum(a, b)
    is_even = (total.view(np.int64) & 1) == 0
    return np.where((error != 0) & is_even, np.nextafter(total, np.copysign(np.inf, error)), total)


def _of_fractions(a: float, b: float, c: float, *, otherwise: float) -> float:
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return otherwise
    try:
        return float(exact)
    except OverflowError:
        return float("inf") if exact > 0 else float("-inf")
