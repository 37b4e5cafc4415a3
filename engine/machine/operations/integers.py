"""Integer arithmetic: wraps; shifts by the width or more give 0 or the sign; division by 0 gives -1 or the dividend."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from engine.machine.frame import Frame, Handler, Step, as_array
from engine.machine.ir import Constant, Scalar, Tensor
from engine.machine.numerics import Array, constant, dtype_of, unsigned
from engine.machine.values import Val, choose, element_of, scalar_of

Compute: TypeAlias = Callable[[Array, Array], Array]

_SIGNED_COMPARISONS: dict[str, Compute] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "slt": np.less,
    "sle": np.less_equal,
    "sgt": np.greater,
    "sge": np.greater_equal,
}
_UNSIGNED_COMPARISONS: dict[str, Compute] = {
    "ult": np.less,
    "ule": np.less_equal,
    "ugt": np.greater,
    "uge": np.greater_equal,
}


def binary(compute: Compute, *, on_bool: Compute | None = None) -> Handler:
    """A handler of two integers; i1 computes modulo 2 by `on_bool`."""

    def handle(frame: Frame, step: Step, operands: list[Val]) -> Val:
        left, right = as_array(operands[0]), as_array(operands[1])
        if left.dtype == np.bool_ and on_bool is not None:
            return on_bool(left, right)
        return compute(left, right)

    return handle


def of_unsigned(compute: Callable[[Array, Array], Array]) -> Handler:
    """A handler that reinterprets its operands as unsigned."""

    def handle(frame: Frame, step: Step, operands: list[Val]) -> Val:
        left, right = as_array(operands[0]), as_array(operands[1])
        return compute(unsigned(left), unsigned(right)).view(left.dtype)

    return handle


def divide(left: Array, right: Array) -> Array:
    """The quotient toward zero."""
    floored = np.floor_divide(left, right)
    remainder = left - floored * right
    quotient = floored + ((remainder != 0) & ((left < 0) != (right < 0)))
    return np.where(right == 0, np.array(-1, left.dtype), quotient) if (right == 0).any() else quotient


def remainder(left: Array, right: Array) -> Array:
    """Remainder of the division toward zero; the sign is that of the dividend."""
    result = np.fmod(left, right)
    return np.where(right == 0, left, result) if (right == 0).any() else result


def _divide_floor(left: Array, right: Array) -> Array:
    return np.where(right == 0, np.array(-1, left.dtype), np.floor_divide(left, right))


def _divide_ceil(left: Array, right: Array) -> Array:
    floored = np.floor_divide(left, right)
    return np.where(right == 0, np.array(-1, left.dtype), floored + (left != floored * right))


def _divide_unsigned(left: Array, right: Array) -> Array:
    return np.where(right == 0, np.iinfo(left.dtype).max, np.floor_divide(left, right)).astype(left.dtype, copy=False)


def _shift_left(left: Array, right: Array) -> Array:
    bits = left.dtype.itemsize * 8
    shifted = np.left_shift(unsigned(left), unsigned(right))
    return np.where(unsigned(right) >= bits, 0, shifted).astype(shifted.dtype, copy=False).view(left.dtype)


def _shift_right(left: Array, right: Array) -> Array:
    most = left.dtype.itemsize * 8 - 1
    return np.asarray(np.right_shift(left, np.minimum(unsigned(right), most).astype(left.dtype)))


def _shift_right_unsigned(left: Array, right: Array) -> Array:
    bits = left.dtype.itemsize * 8
    return np.where(right >= bits, 0, np.right_shift(left, np.minimum(right, bits - 1))).astype(left.dtype, copy=False)


def _high_half(left: Array, right: Array) -> Array:
    """The upper bits of the product of unsigned numbers."""
    bits = left.dtype.itemsize * 8
    if bits < 64:
        return ((left.astype(np.uint64) * right.astype(np.uint64)) >> np.uint64(bits)).astype(left.dtype)
    low_mask, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    a, b, c, d = left >> half, left & low_mask, right >> half, right & low_mask
    middle = a * d + ((b * d) >> half)
    carry = b * c + (middle & low_mask)
    return np.asarray(a * c + (middle >> half) + (carry >> half))


def _compare(frame: Frame, step: Step, operands: list[Val]) -> Val:
    predicate = str(step.operation.attributes["predicate"])
    left, right = as_array(operands[0]), as_array(operands[1])
    if predicate in _UNSIGNED_COMPARISONS:
        return _UNSIGNED_COMPARISONS[predicate](unsigned(left), unsigned(right))
    if left.dtype == np.bool_ and predicate not in ("eq", "ne"):
        left, right = -left.astype(np.int8), -right.astype(np.int8)  # the only bit of an i1 is its sign bit
    return _SIGNED_COMPARISONS[predicate](left, right)


def _extend_signed(frame: Frame, step: Step, operands: list[Val]) -> Val:
    source = as_array(operands[0])
    target = dtype_of(scalar_of(step.operation.results[0].type))
    return -source.astype(target) if source.dtype == np.bool_ else source.astype(target)


def _extend_unsigned(frame: Frame, step: Step, operands: list[Val]) -> Val:
    source = as_array(operands[0])
    target = dtype_of(scalar_of(step.operation.results[0].type))
    return source.astype(target) if source.dtype == np.bool_ else unsigned(source).astype(target)


def _truncate(frame: Frame, step: Step, operands: list[Val]) -> Val:
    source, target = as_array(operands[0]), scalar_of(step.operation.results[0].type)
    return (source & 1).astype(np.bool_) if target is Scalar.I1 else source.astype(dtype_of(target))


def _cast_index(frame: Frame, step: Step, operands: list[Val]) -> Val:
    return as_array(operands[0]).astype(dtype_of(scalar_of(step.operation.results[0].type)))


def _select(frame: Frame, step: Step, operands: list[Val]) -> Val:
    return choose(as_array(operands[0]), operands[1], operands[2])


def _constant(frame: Frame, step: Step, operands: list[Val]) -> Val:
    kind = step.operation.results[0].type
    value = step.operation.attributes["value"]
    element = element_of(kind)
    assert isinstance(element, Scalar) and isinstance(value, Constant)
    array = constant(element, value.bits)
    if not isinstance(kind, Tensor):
        return array
    return array.reshape((1,) * (1 + len(kind.shape)) if len(array) == 1 else (1, *kind.shape))


def _poison(frame: Frame, step: Step, operands: list[Val]) -> Val:
    """0, since any value is right."""
    kind = step.operation.results[0].type
    return np.zeros((1,) * (1 + (len(kind.shape) if isinstance(kind, Tensor) else 0)), dtype_of(scalar_of(kind)))


def _wrapping_power(frame: Frame, step: Step, operands: list[Val]) -> Val:
    return np.power(as_array(operands[0]), np.maximum(as_array(operands[1]), 0))


def _absolute(frame: Frame, step: Step, operands: list[Val]) -> Val:
    return np.abs(as_array(operands[0]))


def _bit_count(frame: Frame, step: Step, operands: list[Val]) -> Val:
    source = as_array(operands[0])
    return np.bitwise_count(unsigned(source)).astype(source.dtype)


def _leading_zeros(frame: Frame, step: Step, operands: list[Val]) -> Val:
    source = as_array(operands[0])
    bits = source.dtype.itemsize * 8
    filled = unsigned(source).copy()
    for shift in (1, 2, 4, 8, 16, 32):
        if shift < bits:
            filled |= filled >> np.array(shift, filled.dtype)
    return (bits - np.bitwise_count(filled)).astype(source.dtype)


def _trailing_zeros(frame: Frame, step: Step, operands: list[Val]) -> Val:
    source = unsigned(as_array(operands[0]))
    one = np.array(1, source.dtype)
    counts: Array = np.bitwise_count(~source & (source - one)).astype(as_array(operands[0]).dtype)
    return counts


OPERATIONS: dict[str, Handler] = {
    "arith.constant": _constant,
    "arith.addi": binary(np.add, on_bool=np.logical_xor),
    "arith.subi": binary(np.subtract, on_bool=np.logical_xor),
    "arith.muli": binary(np.multiply, on_bool=np.logical_and),
    "arith.divsi": binary(divide),
    "arith.remsi": binary(remainder),
    "arith.divui": of_unsigned(_divide_unsigned),
    "arith.remui": of_unsigned(remainder),
    "arith.floordivsi": binary(_divide_floor),
    "arith.ceildivsi": binary(_divide_ceil),
    "arith.andi": binary(np.bitwise_and),
    "arith.ori": binary(np.bitwise_or),
    "arith.xori": binary(np.bitwise_xor),
    "arith.shli": binary(_shift_left),
    "arith.shrsi": binary(_shift_right),
    "arith.shrui": of_unsigned(_shift_right_unsigned),
    "arith.minsi": binary(np.minimum, on_bool=np.logical_or),
    "arith.maxsi": binary(np.maximum, on_bool=np.logical_and),
    "arith.minui": of_unsigned(np.minimum),
    "arith.maxui": of_unsigned(np.maximum),
    "arith.cmpi": _compare,
    "arith.extsi": _extend_signed,
    "arith.extui": _extend_unsigned,
    "arith.trunci": _truncate,
    "arith.index_cast": _cast_index,
    "arith.index_castui": _extend_unsigned,
    "arith.select": _select,
    "tt.mulhiui": of_unsigned(_high_half),
    "math.absi": _absolute,
    "math.ipowi": _wrapping_power,
    "math.ctpop": _bit_count,
    "math.ctlz": _leading_zeros,
    "math.cttz": _trailing_zeros,
    "ub.poison": _poison,
}
