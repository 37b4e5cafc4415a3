"""Floating-point arithmetic: each operation rounds once to nearest even; nothing is fused."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from engine.machine.frame import Frame, Handler, Step, as_array
from engine.machine.ir import Scalar
from engine.machine.numerics import Array, decode, encode, is_coded
from engine.machine.values import Val, scalar_of

# An unordered predicate is true for a pair with a NaN, an ordered one is false.
_COMPARISONS: dict[str, Callable[[Array, Array], Array]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
_NEGATIONS = {"eq": "ne", "ne": "eq", "lt": "ge", "le": "gt", "gt": "le", "ge": "lt"}


def elementwise(compute: Callable[..., Array]) -> Handler:  # ...: one parameter per operand
    """A handler of floats of the result's type: decode, compute, round."""

    def handle(frame: Frame, step: Step, operands: list[Val]) -> Val:
        scalar = scalar_of(step.operation.results[0].type)
        if is_coded(scalar):
            return encode(scalar, compute(*(decode(scalar, as_array(operand)) for operand in operands)))
        result = compute(*map(as_array, operands))
        return result if result.dtype == as_array(operands[0]).dtype else encode(scalar, result)

    return handle


def compare(predicate: str, left: Array, right: Array) -> Array:
    """The comparison of `arith.cmpf` by its predicate."""
    if predicate in ("true", "false"):
        return np.full(np.broadcast_shapes(left.shape, right.shape), predicate == "true")
    if predicate in ("ord", "uno"):
        unordered = np.isnan(left) | np.isnan(right)
        return unordered if predicate == "uno" else ~unordered
    kind = predicate[1:]
    if predicate == "one":
        return (left < right) | (left > right)
    if predicate == "ueq":
        return ~((left < right) | (left > right))
    if predicate[0] == "o" or predicate == "une":
        return _COMPARISONS[kind](left, right)
    # unordered: the negation of the opposite ordered comparison
    return ~_COMPARISONS[_NEGATIONS[kind]](left, right)


def maximum_number(left: Array, right: Array) -> Array:
    """The larger operand; of a number and a NaN the number; +0 is larger than -0."""
    return _right_zero(np.fmax(left, right), left, right, positive=True)


def minimum_number(left: Array, right: Array) -> Array:
    """The smaller operand; of a number and a NaN the number; -0 is smaller than +0."""
    return _right_zero(np.fmin(left, right), left, right, positive=False)


def maximum(left: Array, right: Array) -> Array:
    """The larger operand, NaN if one is."""
    return _right_zero(np.maximum(left, right), left, right, positive=True)


def minimum(left: Array, right: Array) -> Array:
    """The smaller operand, NaN if one is."""
    return _right_zero(np.minimum(left, right), left, right, positive=False)


def _right_zero(result: Array, left: Array, right: Array, *, positive: bool) -> Array:
    """The result with the sign of zeros corrected: numpy returns either of two zeros with different signs."""
    zeros = (left == 0) & (right == 0)
    if not zeros.any():
        return result
    left_negative, right_negative = np.signbit(left), np.signbit(right)
    negative = left_negative & right_negative if positive else left_negative | right_negative
    zero = np.where(negative, np.array(-0.0, result.dtype), np.array(0.0, result.dtype))
    return np.where(zeros, zero, result)


def _compare(frame: Frame, step: Step, operands: list[Val]) -> Val:
    scalar = scalar_of(step.operation.operands[0].type)
    left, right = (decode(scalar, as_array(operand)) for operand in operands)
    return compare(str(step.operation.attributes["predicate"]), left, right)


def _negate(frame: Frame, step: Step, operands: list[Val]) -> Val:
    """Flip the sign bit, of a NaN too; exact for every type."""
    scalar, source = scalar_of(step.operation.operands[0].type), as_array(operands[0])
    if scalar is Scalar.BF16:
        return source ^ np.uint16(0x8000)
    return encode(scalar, -decode(scalar, source))


def _absolute(frame: Frame, step: Step, operands: list[Val]) -> Val:
    scalar, source = scalar_of(step.operation.operands[0].type), as_array(operands[0])
    if scalar is Scalar.BF16:
        return source & np.uint16(0x7FFF)
    return encode(scalar, np.abs(decode(scalar, source)))


def _clamp(frame: Frame, step: Step, operands: list[Val]) -> Val:
    """min(max(x, low), high); a NaN stays one with `propagateNan = all`, else it becomes low."""
    scalar = scalar_of(step.operation.results[0].type)
    source, low, high = (decode(scalar, as_array(operand)) for operand in operands)
    if _propagates(step):
        return encode(scalar, minimum(maximum(source, low), high))
    return encode(scalar, minimum_number(maximum_number(source, low), high))


def _propagates(step: Step) -> bool:
    return step.operation.attributes.get("propagateNan", "none") not in ("none", 0, False)


OPERATIONS: dict[str, Handler] = {
    "arith.addf": elementwise(np.add),
    "arith.subf": elementwise(np.subtract),
    "arith.mulf": elementwise(np.multiply),
    "arith.divf": elementwise(np.divide),
    "tt.precise_divf": elementwise(np.divide),
    "arith.remf": elementwise(np.fmod),
    "arith.negf": _negate,
    "math.absf": _absolute,
    "arith.maxnumf": elementwise(maximum_number),
    "arith.minnumf": elementwise(minimum_number),
    "arith.maximumf": elementwise(maximum),
    "arith.minimumf": elementwise(minimum),
    "arith.cmpf": _compare,
    "tt.clampf": _clamp,
}
