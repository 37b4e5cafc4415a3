"""Elements of every dtype in numpy arrays, and rounding.

Integers are signed arrays of their width (wrapping as two's complement), i1 is bool, f16, f32 and f64 are numpy's own
types.  bf16 is stored as its bits in uint16 and f8 as its bits in uint8; arithmetic on them decodes to float32,
computes there and rounds once to nearest even.  For + - * / and sqrt that equals rounding the exact result: float32 has
24 >= 2p + 2 bits for p = 11 (f16), 8 (bf16) and below, so that the double rounding is harmless.

Overflow: f16, bf16 and e5m2 by truncf give infinity; conversions to f8 saturate at the largest finite value, as the
hardware's conversion (satfinite) does.  NaN payloads have no meaning.  Compiled code may contract a * b + c to one
fused operation; the machine never does.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from engine.errors import UnsupportedError
from engine.machine.ir import Scalar

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]  # Any: shape and element type are those of the TTIR value

_DTYPE_BY_SCALAR: dict[Scalar, type[np.generic]] = {
    Scalar.I1: np.bool_,
    Scalar.I8: np.int8,
    Scalar.I16: np.int16,
    Scalar.I32: np.int32,
    Scalar.I64: np.int64,
    Scalar.INDEX: np.int64,
    Scalar.F16: np.float16,
    Scalar.BF16: np.uint16,
    Scalar.F32: np.float32,
    Scalar.F64: np.float64,
    Scalar.F8E4M3FN: np.uint8,
    Scalar.F8E4M3FNUZ: np.uint8,
    Scalar.F8E5M2: np.uint8,
    Scalar.F8E5M2FNUZ: np.uint8,
}
_UNSIGNED_BY_BYTES: dict[int, type[np.unsignedinteger[Any]]] = {  # Any: the width
    1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class SmallFloat:
    """The layout of an 8-bit float; `is_fnuz` has no infinity, no -0, and NaN at 0x80."""

    mantissa_bits: int
    bias: int
    has_infinity: bool
    is_fnuz: bool


_SMALL_FLOATS = {
    Scalar.F8E4M3FN: SmallFloat(mantissa_bits=3, bias=7, has_infinity=False, is_fnuz=False),
    Scalar.F8E4M3FNUZ: SmallFloat(mantissa_bits=3, bias=8, has_infinity=False, is_fnuz=True),
    Scalar.F8E5M2: SmallFloat(mantissa_bits=2, bias=15, has_infinity=True, is_fnuz=False),
    Scalar.F8E5M2FNUZ: SmallFloat(mantissa_bits=2, bias=16, has_infinity=False, is_fnuz=True),
}


def dtype_of(scalar: Scalar) -> np.dtype[Any]:  # Any: the element type is only known when it runs
    """The numpy type of elements of `scalar`; UnsupportedError for a type that the machine does not have."""
    try:
        return np.dtype(_DTYPE_BY_SCALAR[scalar])
    except KeyError:
        raise UnsupportedError(f"the machine does not execute the element type {scalar.value}") from None


def is_coded(scalar: Scalar) -> bool:
    """Whether arrays hold the bits of a float that numpy does not have."""
    return scalar is Scalar.BF16 or scalar in _SMALL_FLOATS


def unsigned(array: Array) -> Array:
    """The same bits as unsigned integers; no copy."""
    return array.view(np.uint8 if array.dtype == np.bool_ else _UNSIGNED_BY_BYTES[array.dtype.itemsize])


def words(data: Array, element_bytes: int) -> Array:
    """Contiguous bytes or flags as one unsigned integer per element of 1, 2, 4 or 8 of them; no copy."""
    return data.view(_UNSIGNED_BY_BYTES[element_bytes])


def word_of(byte: int, element_bytes: int) -> np.unsignedinteger[Any]:  # Any: its width
    """The unsigned integer of so many bytes that all have this value."""
    return _UNSIGNED_BY_BYTES[element_bytes](int.from_bytes(bytes([byte]) * element_bytes, "little"))


def decode(scalar: Scalar, array: Array) -> Array:
    """Numbers that numpy can compute with: float32 for bf16 and f8, the array itself for all other types."""
    if scalar is Scalar.BF16:
        return np.left_shift(array, np.uint32(16), dtype=np.uint32).view(np.float32)
    if scalar in _SMALL_FLOATS:
        return _values_of(scalar)[array]
    return array


def encode(scalar: Scalar, numbers: Array) -> Array:
    """Round floats to `scalar`, to nearest even."""
    if scalar is Scalar.BF16:
        return _encode_bfloat16(_to_float32(numbers))
    if scalar in _SMALL_FLOATS:
        return _encode_small(scalar, _to_float32(numbers))
    return numbers.astype(dtype_of(scalar), copy=False)


def encode_toward_zero(scalar: Scalar, numbers: Array) -> Array:
    """Round floats to `scalar` toward zero (`rtz`); finite numbers stay finite."""
    nearest = decode(scalar, encode(scalar, numbers))
    rounded_up = np.isfinite(numbers) & (np.abs(nearest.astype(np.float64)) > np.abs(numbers.astype(np.float64)))
    bits = unsigned(np.array(encode(scalar, numbers)))
    # The next smaller magnitude has the next smaller bit pattern, also below infinity.
    return np.where(rounded_up, bits - np.array(1, bits.dtype), bits).view(dtype_of(scalar))


def round_to_tf32(numbers: Array) -> Array:
    """float32 with the mantissa rounded to 10 bits, to nearest with ties away from zero, as cvt.rna.tf32 does."""
    bits = np.ascontiguousarray(numbers).view(np.uint32)
    rounded = ((bits + np.uint32(0x1000)) & np.uint32(0xFFFFE000)).view(np.float32)
    return np.where(np.isfinite(numbers), rounded, numbers)


def constant(scalar: Scalar, bits: tuple[int, ...]) -> Array:
    """Elements by their bit patterns."""
    dtype = dtype_of(scalar)
    if scalar is Scalar.I1:
        return np.array([bool(pattern) for pattern in bits])
    return np.array(bits, dtype=_UNSIGNED_BY_BYTES[dtype.itemsize]).view(dtype)


def _to_float32(numbers: Array) -> Array:
    """float32; from float64 rounded to odd, so that a second rounding to fewer bits is that of the exact number."""
    if numbers.dtype != np.float64:
        return numbers.astype(np.float32, copy=False)
    nearest = numbers.astype(np.float32)
    inexact = np.isfinite(numbers) & (nearest.astype(np.float64) != numbers)
    too_large = inexact & (np.abs(nearest.astype(np.float64)) > np.abs(numbers))
    bits = nearest.view(np.uint32)
    toward_zero = np.where(too_large, bits - np.uint32(1), bits)
    return np.where(inexact, toward_zero | np.uint32(1), bits).view(np.float32)


def _encode_bfloat16(numbers: Array) -> Array:
    """The upper halves of float32, rounded to nearest even."""
    bits = np.ascontiguousarray(numbers).view(np.uint32)
    rounded = bits >> np.uint32(16)
    rounded &= np.uint32(1)
    rounded += np.uint32(0x7FFF)
    rounded += bits
    rounded >>= np.uint32(16)
    coded = rounded.astype(np.uint16)
    is_nan = np.isnan(numbers)
    if is_nan.any():
        coded[is_nan] = 0x7FC0
    return coded


@cache
def _values_of(scalar: Scalar) -> Array:
    """The value of each of the 256 patterns."""
    layout = _SMALL_FLOATS[scalar]
    values = np.empty(256, np.float32)
    for pattern in range(256):
        mantissa = pattern & ((1 << layout.mantissa_bits) - 1)
        exponent = (pattern & 0x7F) >> layout.mantissa_bits
        if exponent:
            mantissa += 1 << layout.mantissa_bits
        magnitude = mantissa * 2.0 ** (max(exponent, 1) - layout.bias - layout.mantissa_bits)
        values[pattern] = -magnitude if pattern & 0x80 else magnitude
    if layout.is_fnuz:
        values[0x80] = np.nan
    elif layout.has_infinity:
        first = 0x7F >> layout.mantissa_bits << layout.mantissa_bits
        values[first], values[first | 0x80] = np.inf, -np.inf
        values[first + 1 : 0x80] = values[(first | 0x80) + 1 :] = np.nan
    else:
        values[[0x7F, 0xFF]] = np.nan
    return values


@cache
def _ordered_values(scalar: Scalar) -> tuple[Array, Array]:
    """The finite values from 0 up, in the order of their patterns, and the midpoints between neighbours."""
    values = _values_of(scalar)[:0x80]
    finite = values[np.isfinite(values)].astype(np.float64)
    return finite, ((finite[1:] + finite[:-1]) / 2).astype(np.float32)


def _encode_small(scalar: Scalar, numbers: Array) -> Array:
    """Patterns of the nearest values, ties to the even pattern, saturating; a midpoint is exact in float32."""
    layout = _SMALL_FLOATS[scalar]
    finite, midpoints = _ordered_values(scalar)
    magnitudes = np.abs(numbers)
    codes = np.searchsorted(midpoints, magnitudes, side="left")
    on_tie = magnitudes == midpoints[np.minimum(codes, len(midpoints) - 1)]
    codes += on_tie & (codes % 2 == 1)
    codes = np.minimum(codes, len(finite) - 1).astype(np.uint8)
    negative = np.signbit(numbers) & ((codes != 0) | (not layout.is_fnuz))
    codes = np.where(negative, codes | np.uint8(0x80), codes)
    return np.where(np.isnan(numbers), np.uint8(0x80 if layout.is_fnuz else 0x7F), codes)
