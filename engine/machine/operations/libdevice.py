"""Functions of libdevice, by the name of their symbol."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any, TypeAlias

import numpy as np

from engine.errors import UnsupportedError
from engine.machine.frame import Frame, Handler, Step, as_array, where
from engine.machine.numerics import Array, decode, dtype_of, encode, unsigned
from engine.machine.operations.conversions import to_integer
from engine.machine.operations.floats import maximum_number, minimum_number
from engine.machine.operations.mathematics import (
    FUNCTIONS,
    TESTS,
    Compute,
    erfc,
    fused,
    per_element,
    power,
    reciprocal_root,
    round_half_away,
)
from engine.machine.values import Val, scalar_of

IntegerType: TypeAlias = np.dtype[np.integer[Any]]  # Any: its width

_NORMAL = NormalDist()


def _log_of_gamma(number: float) -> float:
    """Infinite at its poles, which are 0 and the negative integers."""
    return math.inf if number <= 0 and (math.isinf(number) or number == int(number)) else math.lgamma(number)


def _gamma(number: float) -> float:
    """Infinite at 0, with its sign."""
    return math.copysign(math.inf, number) if number == 0 else math.gamma(number)


def _inverse_erf(number: float) -> float:
    """NaN outside -1 to 1; by the lower tail, which is exact near 1, and corrected by one Newton step near 0."""
    magnitude = abs(number)
    if magnitude >= 1:
        return math.copysign(math.inf, number) if magnitude == 1 else math.nan
    root = -_inverse_cumulative((1 - magnitude) / 2) * math.sqrt(0.5)
    if magnitude < 0.5:
        root -= (math.erf(root) - magnitude) * math.sqrt(math.pi) / 2 * math.exp(root * root)
    return math.copysign(root, number)


def _inverse_cumulative(share: float) -> float:
    """The number that a normal variable is below with this probability; NaN outside 0 to 1."""
    if 0 < share < 1:
        return _NORMAL.inv_cdf(share)
    return {0.0: -math.inf, 1.0: math.inf}.get(share, math.nan)


def _count_bits(numbers: Array) -> Array:
    return np.bitwise_count(unsigned(numbers))


def _leading_zeros(numbers: Array) -> Array:
    bits = unsigned(numbers).copy()
    width = bits.dtype.itemsize * 8
    for distance in (1, 2, 4, 8, 16, 32)[: width.bit_length() - 1]:
        bits |= bits >> bits.dtype.type(distance)  # sets all bits below the highest one
    return width - np.bitwise_count(bits)


def _first_set_bit(numbers: Array) -> Array:
    """The place of the lowest 1, counted from 1; 0 if there is none."""
    return np.where(numbers == 0, 0, np.bitwise_count(unsigned(numbers ^ (numbers - 1))))


def _reverse_bits(numbers: Array) -> Array:
    octets = np.ascontiguousarray(numbers)[..., None].view(np.uint8)
    reversed_bits = np.unpackbits(octets, axis=-1, bitorder="little")
    return np.packbits(reversed_bits, axis=-1)[..., ::-1].copy().view(numbers.dtype)[..., 0]


def _to_integer(rounded: Compute, dtype: IntegerType) -> Compute:
    bounds = np.iinfo(dtype)
    return lambda numbers: to_integer(rounded(numbers), dtype, int(bounds.min), int(bounds.max))


def _to_float(source: IntegerType, target: type[np.floating[Any]]) -> Compute:  # Any: its width
    return lambda numbers: numbers.view(source).astype(target)


def _bit_cast(target: type[np.generic]) -> Compute:
    return lambda numbers: numbers.view(target)


def _reciprocal(numbers: Array) -> Array:
    return np.array(1, numbers.dtype) / numbers


def _normal_cumulative(numbers: Array) -> Array:
    scaled = numbers * np.array(-math.sqrt(0.5), numbers.dtype)
    return np.asarray(np.multiply(np.array(0.5, numbers.dtype), erfc(scaled)))


_INTEGERS: dict[str, IntegerType] = {
    "int": np.dtype("i4"),
    "uint": np.dtype("u4"),
    "ll": np.dtype("i8"),
    "ull": np.dtype("u8"),
}
_ROUNDINGS: dict[str, Compute] = {"rn": np.rint, "rz": np.trunc, "rd": np.floor, "ru": np.ceil}
_CONVERSIONS: dict[str, Compute] = {
    **{
        f"{source}2{name}_{mode}": _to_integer(rounded, dtype)
        for source in ("float", "double")
        for name, dtype in _INTEGERS.items()
        for mode, rounded in _ROUNDINGS.items()
    },
    **{f"{name}2float_rn": _to_float(dtype, np.float32) for name, dtype in _INTEGERS.items()},
    **{f"{name}2double_rn": _to_float(dtype, np.float64) for name, dtype in _INTEGERS.items()},
    "llrint": _to_integer(np.rint, _INTEGERS["ll"]),
    "llround": _to_integer(round_half_away, _INTEGERS["ll"]),
    "float_as_int": _bit_cast(np.int32),
    "float_as_uint": _bit_cast(np.int32),
    "int_as_float": _bit_cast(np.float32),
    "uint_as_float": _bit_cast(np.float32),
    "double_as_longlong": _bit_cast(np.int64),
    "longlong_as_double": _bit_cast(np.float64),
}
_OF_BITS: dict[str, Compute] = {
    "popc": _count_bits,
    "clz": _leading_zeros,
    "ffs": _first_set_bit,
    "brev": _reverse_bits,
}
_FUNCTIONS: dict[str, Compute] = {
    **FUNCTIONS,
    **TESTS,
    **_CONVERSIONS,
    **_OF_BITS,
    **{f"{name}ll": compute for name, compute in _OF_BITS.items()},
    "pow": power,
    "powi": power,
    "fabs": np.abs,
    "abs": np.abs,
    "llabs": np.abs,
    "fmod": np.fmod,
    "fmax": maximum_number,
    "fmin": minimum_number,
    "hypot": np.hypot,
    "rint": np.rint,
    "nearbyint": np.rint,
    "round": round_half_away,
    "erfc": erfc,
    "lgamma": per_element(_log_of_gamma),
    "tgamma": per_element(_gamma),
    "normcdf": _normal_cumulative,
    "normcdfinv": per_element(_inverse_cumulative),
    "erfinv": per_element(_inverse_erf),
    "rcbrt": lambda x: 1 / np.cbrt(x),
    "sinpi": lambda x: np.sin(x.astype(np.float64) * math.pi).astype(x.dtype),
    "cospi": lambda x: np.cos(x.astype(np.float64) * math.pi).astype(x.dtype),
    "fdim": lambda x, y: np.where(x <= y, np.array(0, x.dtype), x - y),  # NaN if one of them is
    "saturate": lambda x: np.clip(np.nan_to_num(x, nan=0.0), 0, 1).astype(x.dtype),
    "fast_exp": np.exp,
    "fast_exp10": FUNCTIONS["exp10"],
    "fast_log": np.log,
    "fast_log2": np.log2,
    "fast_log10": np.log10,
    "fast_sin": np.sin,
    "fast_cos": np.cos,
    "fast_tan": np.tan,
    "fast_pow": power,
    "fast_fdivide": np.divide,
    "fast_tanh": np.tanh,
    "frsqrt_rn": lambda x: reciprocal_root(x.astype(np.float64)).astype(x.dtype),
    "fma_rn": fused,
    "fmaf_rn": fused,
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


def library_function(symbol: str) -> Compute | None:
    """The function of a libdevice symbol: `__nv_tanhf`, `__ocml_tanh_f32`; None if the machine has none."""
    name = symbol
    for prefix in ("__nv_", "__ocml_", "__imf_", "__triton_hip_"):
        name = name.removeprefix(prefix)
    name = name.removesuffix("_f32").removesuffix("_f64").removesuffix("_f16")
    for candidate in (name, name.removesuffix("f"), name.removesuffix("d"), name.removeprefix("native_")):
        if candidate in _FUNCTIONS:
            return _FUNCTIONS[candidate]
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


OPERATIONS: dict[str, Handler] = {"tt.extern_elementwise": _external}
