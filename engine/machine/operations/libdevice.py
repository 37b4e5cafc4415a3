"""Functions of libdevice, by the name of their symbol."""

from __future__ import annotations

import functools
import math
from typing import Any, TypeAlias

import numpy as np

from engine.errors import UnsupportedError
from engine.machine.frame import Frame, Handler, Step, as_array, where
from engine.machine.library import rounding, special
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

_C_INT = np.iinfo(np.int32)


def _log_of_gamma(number: float) -> float:
    """Infinite at its poles, which are 0 and the negative integers."""
    return math.inf if number <= 0 and (math.isinf(number) or number == int(number)) else math.lgamma(number)


def _gamma(number: float) -> float:
    """Infinite at 0, with its sign."""
    return math.copysign(math.inf, number) if number == 0 else math.gamma(number)


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


def _unsigned(compute: Compute) -> Compute:
    """A function of integers on the same bits without a sign."""
    return lambda *operands: compute(*map(unsigned, operands))


def _upper_half(left: Array, right: Array) -> Array:
    """The upper bits of the product of two integers of one width."""
    width = left.dtype.itemsize * 8
    product = (left.astype(object) * right.astype(object)) >> width
    return np.asarray(product).astype(left.dtype)


def _product_of_24_bits(left: Array, right: Array) -> Array:
    """The lower bits of the product of two integers, of which the lower 24 bits count."""
    return ((left << 8) >> 8) * ((right << 8) >> 8)


def _average(more: int) -> Compute:
    return lambda left, right: ((left.astype(np.int64) + right.astype(np.int64) + more) >> 1).astype(left.dtype)


def _distance_plus(left: Array, right: Array, added: Array) -> Array:
    return np.maximum(left, right) - np.minimum(left, right) + unsigned(added)


def _permuted_bytes(left: Array, right: Array, selector: Array) -> Array:
    """The bytes of two words that the lower four digits of a selector name."""
    words = unsigned(left).astype(np.uint64) | unsigned(right).astype(np.uint64) << np.uint64(32)
    result = np.zeros(words.shape, np.uint64)
    for place in range(4):
        chosen = unsigned(selector).astype(np.uint64) >> np.uint64(4 * place) & np.uint64(7)
        result |= (words >> chosen * np.uint64(8) & np.uint64(255)) << np.uint64(8 * place)
    return result.astype(np.uint32).view(np.int32)


def _joined_words(upper: Array, lower: Array) -> Array:
    return (upper.astype(np.int64) << 32 | unsigned(lower).astype(np.int64)).view(np.float64)


def _exponent(numbers: Array) -> Array:
    """The binary exponent: -inf for 0, inf for infinities."""
    exponent = (np.frexp(numbers)[1] - 1).astype(numbers.dtype)
    return np.where(numbers == 0, -np.inf, np.where(np.isfinite(numbers), exponent, np.abs(numbers)))


def _whole_exponent(numbers: Array) -> Array:
    """The binary exponent: the least integer for 0 and NaN, the largest for infinities."""
    exponent = np.frexp(numbers)[1] - 1
    return np.where(np.isinf(numbers), _C_INT.max, np.where((numbers == 0) | np.isnan(numbers), _C_INT.min, exponent))


def _remainder(left: float, right: float) -> float:
    """What is left of a number less the nearest multiple of another one."""
    return math.nan if math.isinf(left) or right == 0 else math.remainder(left, right)


def _length(*parts: Array) -> Array:
    """The root of the sum of squares, without their overflow."""
    return functools.reduce(np.hypot, (part.astype(np.float64) for part in parts)).astype(parts[0].dtype)


def _inverse_length(*parts: Array) -> Array:
    return (1 / _length(*(part.astype(np.float64) for part in parts))).astype(parts[0].dtype)


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
    **{
        f"{source}2{name}_{mode}": rounding.directed(rounding.to_float(dtype.type, target), mode)
        for source, dtype in _INTEGERS.items()
        for name, target in (("float", np.float32), ("double", np.float64))
        for mode in rounding.MODES
    },
    "double2float_rn": lambda x: x.astype(np.float32),
    **{f"double2float_{mode}": rounding.directed(rounding.to_single, mode) for mode in rounding.MODES},
    "double2hiint": lambda x: x.view(np.int64) >> 32,
    "double2loint": lambda x: x.view(np.int64).astype(np.int32),
    "hiloint2double": _joined_words,
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
_OF_INTEGERS: dict[str, Compute] = {
    "mulhi": _upper_half,
    "umulhi": _unsigned(_upper_half),
    "mul64hi": _upper_half,
    "umul64hi": _unsigned(_upper_half),
    "mul24": _product_of_24_bits,
    "umul24": _unsigned(_product_of_24_bits),
    "hadd": _average(0),
    "uhadd": _unsigned(_average(0)),
    "rhadd": _average(1),
    "urhadd": _unsigned(_average(1)),
    "sad": _distance_plus,
    "usad": _unsigned(_distance_plus),
    "byte_perm": _permuted_bytes,
}
_SPECIAL: dict[str, Compute] = {
    "normcdfinv": per_element(special.inverse_cumulative),
    "erfinv": per_element(special.inverse_erf),
    "erfcinv": per_element(special.inverse_erfc),
    "erfcx": per_element(special.scaled_erfc),
    **{
        f"{name}{order}": per_element(functools.partial(function, order))
        for name, function in (
            ("cyl_bessel_i", special.modified_bessel), ("j", special.bessel_j), ("y", special.bessel_y),
        )
        for order in (0, 1)
    },
    "jn": special.of_every_order(special.bessel_j),
    "yn": special.of_every_order(special.bessel_y),
}  # fmt: skip
_DIRECTED: dict[str, Compute] = {
    f"{name}_{mode}": rounding.directed(compute, mode)
    for names, compute in (
        ("fadd dadd", rounding.add), ("fsub dsub", rounding.subtract), ("fmul dmul", rounding.multiply),
        ("fdiv ddiv", rounding.divide), ("frcp drcp", rounding.reciprocal), ("fsqrt dsqrt", rounding.square_root),
        ("fma fmaf", rounding.fused),
    )
    for name in names.split()
    for mode in rounding.MODES
}  # fmt: skip
_FUNCTIONS: dict[str, Compute] = {
    **FUNCTIONS,
    **TESTS,
    **_CONVERSIONS,
    **_OF_BITS,
    **_OF_INTEGERS,
    **_SPECIAL,
    **_DIRECTED,
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
    "nextafter": np.nextafter,
    "ldexp": np.ldexp,
    "scalbn": np.ldexp,
    "logb": _exponent,
    "ilogb": _whole_exponent,
    "remainder": lambda x, y: np.asarray(np.frompyfunc(_remainder, 2, 1)(x, y), np.float64).astype(x.dtype),
    "rhypot": _inverse_length,
    **dict.fromkeys(("norm3d", "norm4d"), _length),
    **dict.fromkeys(("rnorm3d", "rnorm4d"), _inverse_length),
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
