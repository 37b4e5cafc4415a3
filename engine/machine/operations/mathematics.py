"""Elementary functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np

from engine.machine.frame import Frame, Handler, Step, as_array
from engine.machine.fused import fused_multiply_add
from engine.machine.ir import Scalar
from engine.machine.numerics import Array, decode, encode
from engine.machine.operations.floats import elementwise
from engine.machine.values import Val, scalar_of

Compute = Callable[..., Array]  # one parameter per operand

_TABLE_STEP = 1 / 512
_TABLE_END = 6.0  # erf is 1 in float32 from 4 on


def erf(numbers: Array) -> Array:
    """The error function: exact to 1e-12 in float32 by a cubic Hermite table, by the C library in float64."""
    if numbers.dtype == np.float64:
        return per_element(math.erf)(numbers)
    values, slopes = _erf_table()
    wide = np.abs(numbers.astype(np.float64))
    inside = np.minimum(np.nan_to_num(wide, nan=0.0), _TABLE_END - _TABLE_STEP)
    place = (inside / _TABLE_STEP).astype(np.int64)
    t = inside / _TABLE_STEP - place
    left, right = values[place], values[place + 1]
    left_slope, right_slope = slopes[place], slopes[place + 1]
    change = right - left
    bend = (left_slope + right_slope - 2 * change) * t + (3 * change - 2 * left_slope - right_slope)
    result = ((bend * t) + left_slope) * t + left
    result = np.where(np.isnan(wide), wide, result)
    return np.copysign(result, numbers).astype(numbers.dtype)


@cache
def _erf_table() -> tuple[Array, Array]:
    """erf at multiples of the step, and its derivative times the step."""
    points = np.arange(int(_TABLE_END / _TABLE_STEP) + 1) * _TABLE_STEP
    values = np.array([math.erf(point) for point in points])
    return values, 2 / math.sqrt(math.pi) * np.exp(-points * points) * _TABLE_STEP


def per_element(function: Callable[[float], float]) -> Compute:
    """One Python call per element, for functions that numpy does not have; NaN where it is undefined."""

    def guarded(number: float) -> float:
        try:
            return function(number)
        except (ValueError, OverflowError):
            return math.nan if math.isnan(number) or number <= 0 else math.inf

    rows = np.frompyfunc(guarded, 1, 1)

    def compute(numbers: Array) -> Array:
        return np.asarray(rows(numbers.astype(np.float64)), dtype=np.float64).astype(numbers.dtype)

    return compute


def reciprocal_root(numbers: Array) -> Array:
    """1 / sqrt, each step rounded."""
    return np.array(1, numbers.dtype) / np.sqrt(numbers)


def fused(a: Array, b: Array, c: Array) -> Array:
    """a * b + c: rounded once for f64, and through float64, where the sum is rounded twice, for f16 and f32."""
    if a.dtype == np.float64:
        return fused_multiply_add(a, b, c)
    return (a.astype(np.float64) * b.astype(np.float64) + c.astype(np.float64)).astype(a.dtype)


def round_half_away(numbers: Array) -> Array:
    """The nearest integer, of two the one further from 0."""
    whole = np.trunc(numbers)
    return np.asarray(np.copysign(whole + (np.abs(numbers - whole) >= 0.5) * np.sign(numbers), numbers))


def power(base: Array, exponent: Array) -> Array:
    """The power in the type of the base; an integer exponent is not rounded to it, or its parity would be lost."""
    wide = np.float64 if np.issubdtype(exponent.dtype, np.integer) else base.dtype
    return np.asarray(np.power(base.astype(wide), exponent.astype(wide))).astype(base.dtype)


FUNCTIONS: dict[str, Compute] = {
    "exp": np.exp,
    "exp2": np.exp2,
    "exp10": lambda x: np.power(np.array(10, x.dtype), x),
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "sqrt": np.sqrt,
    "rsqrt": reciprocal_root,
    "cbrt": np.cbrt,
    "erf": erf,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "fma": fused,
    "copysign": np.copysign,
}
erfc = per_element(math.erfc)
TESTS: dict[str, Compute] = {
    "isinf": np.isinf,
    "isnan": np.isnan,
    "finite": np.isfinite,
    "isfinite": np.isfinite,
    "signbit": np.signbit,
}


def _integer_power(frame: Frame, step: Step, operands: list[Val]) -> Val:
    scalar = scalar_of(step.operation.results[0].type)
    return encode(scalar, power(decode(scalar, as_array(operands[0])), as_array(operands[1])))


def _is_test(name: str) -> Handler:
    def handle(frame: Frame, step: Step, operands: list[Val]) -> Val:
        scalar: Scalar = scalar_of(step.operation.operands[0].type)
        return TESTS[name](decode(scalar, as_array(operands[0])))

    return handle


OPERATIONS: dict[str, Handler] = {
    **{f"math.{name}": elementwise(compute) for name, compute in FUNCTIONS.items()},
    "math.erfc": elementwise(erfc),
    "math.powf": elementwise(power),
    "math.fpowi": _integer_power,
    "math.round": elementwise(round_half_away),
    "math.roundeven": elementwise(np.rint),
    "math.isnan": _is_test("isnan"),
    "math.isinf": _is_test("isinf"),
    "math.isfinite": _is_test("isfinite"),
    "tt.precise_sqrt": elementwise(np.sqrt),
}
