"""Elementary functions, and libdevice functions by the name of their symbol."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np

from engine.errors import UnsupportedError
from engine.machine.frame import Frame, Handler, Step, as_array, where
from engine.machine.fused import fused_multiply_add
from engine.machine.ir import Scalar
from engine.machine.numerics import Array, decode, dtype_of, encode
from engine.machine.operations.floats import elementwise, maximum_number, minimum_number
from engine.machine.values import Val, scalar_of

Compute = Callable[..., Array]  # one parameter per operand

_TABLE_STEP = 1 / 512
_TABLE_END = 6.0  # erf is 1 in float32 from 4 on


def erf(numbers: Array) -> Array:
    """The error function: exact to 1e-12 in float32 by a cubic Hermite table, by the C library in float64."""
    if numbers.dtype == np.float64:
        return _by_library(math.erf)(numbers)
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


def _by_library(function: Callable[[float], float]) -> Compute:
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


def _log_of_gamma(number: float) -> float:
    """Infinite at its poles, which are 0 and the negative integers."""
    return math.inf if number <= 0 and (math.isinf(number) or number == int(number)) else math.lgamma(number)


def _gamma(number: float) -> float:
    """Infinite at 0, with its sign."""
    return math.copysign(math.inf, number) if number == 0 else math.gamma(number)


def _reciprocal(numbers: Array) -> Array:
    return np.array(1, numbers.dtype) / numbers


def _reciprocal_root(numbers: Array) -> Array:
    return np.array(1, numbers.dtype) / np.sqrt(numbers)


def _fused(a: Array, b: Array, c: Array) -> Array:
    """a * b + c: rounded once for f64, and through float64, where the sum is rounded twice, for f16 and f32."""
    if a.dtype == np.float64:
        return fused_multiply_add(a, b, c)
    return (a.astype(np.float64) * b.astype(np.float64) + c.astype(np.float64)).astype(a.dtype)


def _round_half_away(numbers: Array) -> Array:
    whole = np.trunc(numbers)
    return np.asarray(np.copysign(whole + (np.abs(numbers - whole) >= 0.5) * np.sign(numbers), numbers))


def _logistic_tail(numbers: Array) -> Array:
    scaled = numbers * np.array(-math.sqrt(0.5), numbers.dtype)
    return np.asarray(np.multiply(np.array(0.5, numbers.dtype), _by_library(math.erfc)(scaled)))


def _power(base: Array, exponent: Array) -> Array:
    return np.asarray(np.power(base, exponent.astype(base.dtype)))


_FUNCTIONS: dict[str, Compute] = {
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
    "rsqrt": _reciprocal_root,
    "cbrt": np.cbrt,
    "erf": erf,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "fma": _fused,
    "copysign": np.copysign,
}
_LIBDEVICE_ONLY: dict[str, Compute] = {
    "pow": _power,
    "powi": _power,
    "fabs": np.abs,
    "abs": np.abs,
    "fmod": np.fmod,
    "fmax": maximum_number,
    "fmin": minimum_number,
    "hypot": np.hypot,
    "rint": np.rint,
    "nearbyint": np.rint,
    "round": _round_half_away,
    "erfc": _by_library(math.erfc),
    "lgamma": _by_library(_log_of_gamma),
    "tgamma": _by_library(_gamma),
    "normcdf": _logistic_tail,
    "rcbrt": lambda x: 1 / np.cbrt(x),
    "sinpi": lambda x: np.sin(x.astype(np.float64) * math.pi).astype(x.dtype),
    "cospi": lambda x: np.cos(x.astype(np.float64) * math.pi).astype(x.dtype),
    "fdim": lambda x, y: np.where(x <= y, np.array(0, x.dtype), x - y),  # NaN if one of them is
    "saturate": lambda x: np.clip(np.nan_to_num(x, nan=0.0), 0, 1).astype(x.dtype),
    "fast_exp": np.exp,
    "fast_exp10": _FUNCTIONS["exp10"],
    "fast_log": np.log,
    "fast_log2": np.log2,
    "fast_log10": np.log10,
    "fast_sin": np.sin,
    "fast_cos": np.cos,
    "fast_tan": np.tan,
    "fast_pow": _power,
    "fast_fdivide": np.divide,
    "fast_tanh": np.tanh,
    "frsqrt_rn": lambda x: _reciprocal_root(x.astype(np.float64)).astype(x.dtype),
    "fma_rn": _fused,
    "fmaf_rn": _fused,
    **{
        f"{kind}{name}_rn": compute
        for kind in ("f", "d")  # of float32 and of float64
        for name, compute in (
            ("add", np.add),
            ("sub", np.subtract),
            ("mul", np.multiply),
            ("div", np.divide),
            ("rcp", _reciprocal),
            ("sqrt", np.sqrt),
        )
    },
}
_TESTS: dict[str, Compute] = {
    "isinf": np.isinf,
    "isnan": np.isnan,
    "finite": np.isfinite,
    "isfinite": np.isfinite,
    "signbit": np.signbit,
}


def library_function(symbol: str) -> Compute | None:
    """The function of a libdevice symbol: `__nv_tanhf`, `__ocml_tanh_f32`; None if the machine has none."""
    name = symbol
    for prefix in ("__nv_", "__ocml_", "__imf_", "__triton_hip_"):
        name = name.removeprefix(prefix)
    name = name.removesuffix("_f32").removesuffix("_f64").removesuffix("_f16")
    for candidate in (name, name.removesuffix("f"), name.removesuffix("d"), name.removeprefix("native_")):
        found = _FUNCTIONS.get(candidate) or _LIBDEVICE_ONLY.get(candidate) or _TESTS.get(candidate)
        if found is not None:
            return found
    return None


def _external(frame: Frame, step: Step, operands: list[Val]) -> Val:
    operation = step.operation
    symbol = str(operation.attributes["symbol"])
    compute = library_function(symbol)
    if compute is None:
        raise UnsupportedError(f"{where(operation)}{operation.name}: the machine has no function {symbol}")
    target = scalar_of(operation.results[0].type)
    scalars = [scalar_of(operand.type) for operand in operation.operands]
    arrays = [decode(scalar, as_array(value)) for scalar, value in zip(scalars, operands, strict=True)]
    result = compute(*arrays)
    return encode(target, result) if target.is_float else result.astype(dtype_of(target))


def _integer_power(frame: Frame, step: Step, operands: list[Val]) -> Val:
    scalar = scalar_of(step.operation.results[0].type)
    return encode(scalar, _power(decode(scalar, as_array(operands[0])), as_array(operands[1])))


def _is_test(name: str) -> Handler:
    def handle(frame: Frame, step: Step, operands: list[Val]) -> Val:
        scalar: Scalar = scalar_of(step.operation.operands[0].type)
        return _TESTS[name](decode(scalar, as_array(operands[0])))

    return handle


OPERATIONS: dict[str, Handler] = {
    **{f"math.{name}": elementwise(compute) for name, compute in _FUNCTIONS.items()},
    "math.erfc": elementwise(_LIBDEVICE_ONLY["erfc"]),
    "math.powf": elementwise(_power),
    "math.fpowi": _integer_power,
    "math.round": elementwise(_round_half_away),
    "math.roundeven": elementwise(np.rint),
    "math.isnan": _is_test("isnan"),
    "math.isinf": _is_test("isinf"),
    "math.isfinite": _is_test("isfinite"),
    "tt.precise_sqrt": elementwise(np.sqrt),
    "tt.extern_elementwise": _external,
}
