"""Arithmetic rounded down (`rd`), up (`ru`) or towards zero (`rz`): the nearest number, and the sign of its error."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from engine.machine.fused import fused_multiply_add, two_sum
from engine.machine.numerics import Array

Rounded: TypeAlias = tuple[Array, Array]
"""Results rounded to nearest, or to a neighbour of the nearest, and the sign of what is missing to the exact ones."""

MODES = ("rd", "ru", "rz")


def directed(compute: Callable[..., Rounded], mode: str) -> Callable[..., Array]:  # ...: one parameter per operand
    """A function that rounds by `mode` what `compute` rounds to nearest."""

    def rounded(*operands: Array) -> Array:
        with np.errstate(all="ignore"):
            nearest, missing = compute(*operands)
            finite = np.logical_and.reduce([np.isfinite(operand) for operand in operands])
            overflows = finite & np.isinf(nearest) & np.isnan(missing)
            missing = np.where(overflows, -nearest, np.nan_to_num(missing, nan=0.0))
            down = (missing < 0) & ((mode == "rd") | ((mode == "rz") & (nearest > 0)))
            up = (missing > 0) & ((mode == "ru") | ((mode == "rz") & (nearest < 0)))
            towards = np.where(down, -np.inf, np.inf).astype(nearest.dtype)
            return np.where(down | up, np.nextafter(nearest, towards), nearest)

    return rounded


def add(a: Array, b: Array) -> Rounded:
    """a + b."""
    total, error = two_sum(a.astype(np.float64), b.astype(np.float64))
    return _narrowed(total, error, a.dtype)


def subtract(a: Array, b: Array) -> Rounded:
    """a - b."""
    return add(a, -b)


def multiply(a: Array, b: Array) -> Rounded:
    """a * b."""
    nearest = a * b
    return nearest, _product_plus(a, b, -nearest)


def divide(a: Array, b: Array) -> Rounded:
    """a / b."""
    nearest = a / b
    return nearest, np.where(b == 0, 0, _product_plus(-nearest, b, a) * np.sign(b))


def reciprocal(a: Array) -> Rounded:
    """1 / a."""
    return divide(np.ones_like(a), a)


def square_root(a: Array) -> Rounded:
    """The square root."""
    nearest = np.sqrt(a)
    return nearest, _product_plus(-nearest, nearest, a)


def fused(a: Array, b: Array, c: Array) -> Rounded:
    """a * b + c."""
    if a.dtype == np.float64:
        nearest = fused_multiply_add(a, b, c)
        return nearest, _missing_of_fractions(nearest, a, b, c)
    total, error = two_sum(a.astype(np.float64) * b, c.astype(np.float64))
    return _narrowed(total, error, a.dtype)


def to_float(source: type[np.integer], target: type[np.floating]) -> Callable[[Array], Rounded]:
    """A conversion of integers, whose bits are read as `source`."""

    def convert(numbers: Array) -> Rounded:
        integers = numbers.view(source)
        half = integers.dtype.itemsize * 4
        upper = (integers >> source(half)).astype(np.float64) * 2.0**half
        lower = (integers & source((1 << half) - 1)).astype(np.float64)
        total, error = two_sum(upper, lower)
        nearest = integers.astype(target)
        return nearest, (total - nearest) + error

    return convert


def to_single(numbers: Array) -> Rounded:
    """float64 to float32."""
    return _narrowed(numbers, np.zeros_like(numbers), np.dtype(np.float32))


def _narrowed(total: Array, error: Array, dtype: np.dtype[np.floating]) -> Rounded:
    """A sum of two float64 parts, the second one its error, in a type."""
    nearest = total.astype(dtype)
    return nearest, (total - nearest) + error


def _product_plus(a: Array, b: Array, c: Array) -> Array:
    """The sign of a * b + c, as a number of that sign."""
    return fused_multiply_add(a.astype(np.float64), b.astype(np.float64), c.astype(np.float64))


def _missing_of_fractions(nearest: Array, a: Array, b: Array, c: Array) -> Array:
    """The sign of a * b + c - nearest, exactly; NaN where one of these is not finite."""

    def sign(*numbers: float) -> float:
        if not np.isfinite(numbers).all():
            return np.nan
        result, left, right, added = map(Fraction, numbers)
        exact = left * right + added
        return float((exact > result) - (exact < result))

    return np.asarray(np.frompyfunc(sign, 4, 1)(nearest, a, b, c), dtype=np.float64)
