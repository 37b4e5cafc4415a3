"""Conversions between integers, floats and bits."""

from __future__ import annotations

import numpy as np

from engine.errors import UnsupportedError
from engine.machine.frame import Frame, Handler, Step, as_array
from engine.machine.ir import Pointer, Scalar
from engine.machine.numerics import Array, decode, dtype_of, encode, encode_toward_zero, unsigned
from engine.machine.values import Pointers, Val, element_of, scalar_of


def to_integer(numbers: Array, target: np.dtype[np.generic], low: int, high: int) -> Array:
    """Round toward zero, saturating, NaN as 0: the hardware's conversion where the IR leaves it undefined."""
    wide = numbers.astype(np.float32) if numbers.dtype == np.float16 else numbers
    inside = (wide > low - 1) & (wide < high + 1) if high < 1 << 53 else (wide >= low) & (wide < float(high))
    if inside.all():
        return wide.astype(target)
    result = np.where(inside, wide, 0).astype(target)
    result = np.where(wide >= high, np.array(high, target), result)
    return np.where(wide <= low, np.array(low, target), result)


def _scalars(step: Step) -> tuple[Scalar, Scalar]:
    return scalar_of(step.operation.operands[0].type), scalar_of(step.operation.results[0].type)


def _float_to_float(frame: Frame, step: Step, operands: list[Val]) -> Val:
    source, target = _scalars(step)
    numbers = decode(source, as_array(operands[0]))
    if step.operation.attributes.get("rounding") in ("rtz", 0) and target.bits < source.bits:
        return encode_toward_zero(target, numbers)
    return encode(target, numbers)


def _signed_to_float(frame: Frame, step: Step, operands: list[Val]) -> Val:
    _, target = _scalars(step)
    source = as_array(operands[0])
    return _from_integer(target, -source.astype(np.int8) if source.dtype == np.bool_ else source)


def _unsigned_to_float(frame: Frame, step: Step, operands: list[Val]) -> Val:
    _, target = _scalars(step)
    return _from_integer(target, unsigned(as_array(operands[0])))


def _from_integer(target: Scalar, integers: Array) -> Array:
    """Round once: through float64, which has 53 bits, and by numpy's own conversion for float32 and float64."""
    if target in (Scalar.F32, Scalar.F64):
        return integers.astype(dtype_of(target))
    return encode(target, integers.astype(np.float64))


def _float_to_signed(frame: Frame, step: Step, operands: list[Val]) -> Val:
    source, target = _scalars(step)
    numbers = decode(source, as_array(operands[0]))
    if target is Scalar.I1:
        return np.not_equal(numbers, 0)
    half = 1 << (_converted_bits(target) - 1)
    return to_integer(numbers, np.dtype(f"i{_converted_bits(target) // 8}"), -half, half - 1).astype(dtype_of(target))


def _float_to_unsigned(frame: Frame, step: Step, operands: list[Val]) -> Val:
    source, target = _scalars(step)
    numbers, dtype = decode(source, as_array(operands[0])), dtype_of(target)
    if target is Scalar.I1:
        return np.not_equal(numbers, 0)
    bits = _converted_bits(target)
    return to_integer(numbers, np.dtype(f"u{bits // 8}"), 0, (1 << bits) - 1).astype(dtype)


def _converted_bits(target: Scalar) -> int:
    """The bits that a number saturates to: there is no conversion to 8 bits, which are the lower half of 16."""
    return max(target.bits, 16)


def _bitcast(frame: Frame, step: Step, operands: list[Val]) -> Val:
    value, result = operands[0], element_of(step.operation.results[0].type)
    if isinstance(value, Pointers):
        if not isinstance(result, Pointer) or not isinstance(result.pointee, Scalar):
            raise UnsupportedError("a pointer is cast to something that is not a pointer to scalars")
        return repoint(value, result.pointee.bytes)
    if not isinstance(result, Scalar):
        raise UnsupportedError("bits are cast to a pointer")
    array = as_array(value)
    if result is Scalar.I1 or array.dtype == np.bool_:
        return array.astype(dtype_of(result))
    return np.ascontiguousarray(array).view(dtype_of(result))


def repoint(pointers: Pointers, unit: int) -> Pointers:
    """The same addresses, counted in elements of another size.

    Raises:
        UnsupportedError: their alignments in elements of this size differ.
    """
    if unit == pointers.unit:
        return pointers
    offsets = pointers.index * pointers.unit + pointers.start
    start = int(offsets.flat[0]) % unit if offsets.size else 0
    if not bool((offsets % unit == start).all()):
        raise UnsupportedError("pointers of different alignment are cast to a larger element")
    return Pointers(index=(offsets - start) // unit, origin=pointers.origin, unit=unit, start=start)


OPERATIONS: dict[str, Handler] = {
    "arith.extf": _float_to_float,
    "arith.truncf": _float_to_float,
    "tt.fp_to_fp": _float_to_float,
    "arith.sitofp": _signed_to_float,
    "arith.uitofp": _unsigned_to_float,
    "arith.fptosi": _float_to_signed,
    "arith.fptoui": _float_to_unsigned,
    "arith.bitcast": _bitcast,
    "tt.bitcast": _bitcast,
}
