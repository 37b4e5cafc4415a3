"""Special functions of one number, as exact as float64 allows: Bessel functions and scaled or inverse error functions.

Bessel functions of the first two orders are sums of their power series near 0, Miller's backward recurrence up to
`_FAR`, and Hankel's expansion beyond (M. Abramowitz, I. A. Stegun: Handbook of Mathematical Functions, chapter 9).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np

from engine.machine.numerics import Array

_NORMAL = NormalDist()
_EULER = 0.5772156649015329
_NEAR, _FAR = 1e-8, 30.0
_MORE_ORDERS = 40  # above the larger of order and number, where the backward recurrence begins
_LARGE = 1e200  # numbers of the recurrence are scaled beyond it


def inverse_cumulative(share: float) -> float:
    """The number that a normal variable is below with this probability; NaN outside 0 to 1."""
    if 0 < share < 1:
        return _NORMAL.inv_cdf(share)
    return {0.0: -math.inf, 1.0: math.inf}.get(share, math.nan)


def inverse_erf(number: float) -> float:
    """NaN outside -1 to 1; by the lower tail, which is exact near 1, and corrected by one Newton step near 0."""
    magnitude = abs(number)
    if magnitude >= 1:
        return math.copysign(math.inf, number) if magnitude == 1 else math.nan
    root = -inverse_cumulative((1 - magnitude) / 2) * math.sqrt(0.5)
    if magnitude < 0.5:
        root -= (math.erf(root) - magnitude) * math.sqrt(math.pi) / 2 * math.exp(root * root)
    return math.copysign(root, number)


def inverse_erfc(number: float) -> float:
    """The number whose complementary error function this is; NaN outside 0 to 2."""
    if 0.5 < number < 1.5:
        return inverse_erf(1 - number)
    return -inverse_cumulative(number / 2) * math.sqrt(0.5)


def scaled_erfc(x: float) -> float:
    """exp(x * x) * erfc(x)."""
    if x < -26.628:
        return math.inf
    if x < 25:
        high = float(np.float32(x))  # its square is exact
        return math.exp(high * high) * math.exp((x - high) * (x + high)) * math.erfc(x)
    inverse = 1 / (2 * x * x) if math.isfinite(x) else 0.0
    series = 1.0
    for factor in (11, 9, 7, 5, 3, 1):
        series = 1 - factor * inverse * series
    return series / (x * math.sqrt(math.pi))


def modified_bessel(order: int, x: float) -> float:
    """I0 or I1."""
    size = abs(x)
    if math.isnan(x) or math.isinf(x):
        return size if order == 0 else x
    if size < _FAR:
        result = _series(order, size, sign=1.0)
    else:
        terms = _hankel_terms(order, size)
        root = math.exp(size / 2) if size < 1400 else math.inf
        result = root * ((sum(terms[::2]) - sum(terms[1::2])) / math.sqrt(2 * math.pi * size)) * root
    return math.copysign(result, x) if order else result


def bessel_j(order: int, x: float) -> float:
    """The Bessel function of the first kind; NaN for a negative order."""
    size = abs(x)
    if order < 0 or math.isnan(x):
        return math.nan
    if math.isinf(x):
        return 0.0
    sign = -1.0 if x < 0 and order % 2 else 1.0
    if size * size < order + 1:
        return sign * _series(order, size, sign=-1.0)
    if size < _FAR or size <= order:
        return sign * _backward(size, order)[order]
    return sign * _forward(order, size, _of_far(0, size)[0], _of_far(1, size)[0])


def bessel_y(order: int, x: float) -> float:
    """The Bessel function of the second kind; NaN for a negative order or number."""
    if order < 0 or math.isnan(x) or x < 0:
        return math.nan
    if x == 0 or math.isinf(x):
        return -math.inf if x == 0 else 0.0
    if x >= _FAR:
        return _forward(order, x, _of_far(0, x)[1], _of_far(1, x)[1])
    logarithm = math.log(x / 2) + _EULER
    if x < _NEAR:
        return _forward(order, x, 2 / math.pi * logarithm, -2 / (math.pi * x))
    j = _backward(x, 1)
    even = sum((-1) ** k * j[2 * k] / k for k in range(1, len(j) // 2))
    odd = sum((-1) ** k * (2 * k + 1) / (k * (k + 1)) * j[2 * k + 1] for k in range(1, len(j) // 2))
    first = 2 / math.pi * (logarithm * j[0] - 2 * even)
    second = -2 / (math.pi * x) * j[0] + 2 / math.pi * ((logarithm - 1) * j[1] - odd)
    return _forward(order, x, first, second)


def _forward(order: int, x: float, first: float, second: float) -> float:
    """The function of an order from those of the orders 0 and 1, by the recurrence that they share."""
    before, current = first, second
    if order == 0:
        return first
    for number in range(1, order):
        before, current = current, 2 * number / x * current - before
    return current


def _backward(x: float, order: int) -> list[float]:
    """The functions of the first kind of the orders from 0 up to one beyond `order`, by Miller's recurrence."""
    begin = (max(int(x), order) + _MORE_ORDERS) // 2 * 2
    values = [0.0] * (begin + 2)
    values[begin] = 1.0
    for number in range(begin, 0, -1):
        values[number - 1] = 2 * number / x * values[number] - values[number + 1]
        if abs(values[number - 1]) > _LARGE:
            values = [value / _LARGE for value in values]
    total = values[0] + 2 * sum(values[2::2])
    return [value / total for value in values]


def _series(order: int, x: float, *, sign: float) -> float:
    """The power series, with terms of alternating signs where `sign` is -1."""
    term = 1.0
    for number in range(1, order + 1):
        term *= x / 2 / number
    total, number = term, 0
    while abs(term) > 1e-18 * abs(total):
        number += 1
        term *= sign * (x / 2) * (x / 2) / (number * (number + order))
        total += term
    return total


def _hankel_terms(order: int, x: float) -> list[float]:
    """The terms of Hankel's expansion for large x, without their signs."""
    terms, number = [1.0], 0
    while abs(terms[-1]) > 1e-18 and number < _FAR:
        number += 1
        terms.append(terms[-1] * (4 * order * order - (2 * number - 1) ** 2) / (number * 8 * x))
    return terms


def _of_far(order: int, x: float) -> tuple[float, float]:
    """The functions of both kinds of order 0 or 1, for large x."""
    terms = _hankel_terms(order, x)
    even = sum((-1) ** number * term for number, term in enumerate(terms[::2]))
    odd = sum((-1) ** number * term for number, term in enumerate(terms[1::2]))
    plus, minus = math.cos(x) + math.sin(x), math.sin(x) - math.cos(x)
    cosine, sine = (plus, minus) if order == 0 else (minus, -plus)
    scale = math.sqrt(1 / (math.pi * x))
    return scale * (even * cosine - odd * sine), scale * (even * sine + odd * cosine)


def of_every_order(function: Callable[[int, float], float]) -> Callable[[Array, Array], Array]:
    """A function of arrays: the orders and the numbers."""
    rows = np.frompyfunc(lambda order, x: function(int(order), float(x)), 2, 1)
    return lambda orders, numbers: np.asarray(rows(orders, numbers), dtype=np.float64).astype(numbers.dtype)
