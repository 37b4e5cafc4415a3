"""Matrix products: inputs as f32, sums in f32 in the order of the BLAS library, then added to the accumulator once.

f64 sums in f64, integers exactly.  `tf32` rounds the inputs to 10 bits of mantissa; `tf32x3`, `bf16x3` and `bf16x6`,
which come close to f32, are computed as f32.  A result of f16 is rounded once, after the sum.
"""

from __future__ import annotations

import numpy as np

from engine.machine.frame import Frame, Handler, Step, as_array
from engine.machine.ir import Scalar, Value
from engine.machine.numerics import Array, decode, dtype_of, encode, round_to_tf32
from engine.machine.values import Val, full, scalar_of, shape_of


def _matrix(value: Val, declared: Value) -> Array:
    """An operand with all its rows and columns in memory."""
    array = as_array(value)
    wide = full(array, shape_of(declared.type))
    return wide if wide.shape == array.shape else np.ascontiguousarray(wide)


def _dot(frame: Frame, step: Step, operands: list[Val]) -> Val:
    declared = step.operation.operands
    scalar, target = scalar_of(declared[0].type), scalar_of(step.operation.results[0].type)
    left, right = (_matrix(value, kind) for value, kind in zip(operands[:2], declared[:2], strict=True))
    accumulator = as_array(operands[2])
    if not scalar.is_float:
        return np.asarray(accumulator + _integer_product(left, right).astype(dtype_of(target)))
    wide = np.float64 if Scalar.F64 in (scalar, target) else np.float32
    left, right = (decode(scalar, part).astype(wide, copy=False) for part in (left, right))
    if step.operation.attributes.get("inputPrecision") in ("tf32", 0) and scalar is Scalar.F32:
        left, right = round_to_tf32(left), round_to_tf32(right)
    product = np.matmul(left, right)
    return encode(target, np.add(product, decode(target, accumulator).astype(wide, copy=False)))


def _integer_product(left: Array, right: Array) -> Array:
    """Exact in float64: products of 8-bit integers have 16 bits, and a block has fewer than 2^37 of them."""
    product: Array = np.matmul(left.astype(np.float64), right.astype(np.float64)).astype(np.int64)
    return product


OPERATIONS: dict[str, Handler] = {"tt.dot": _dot}
UNSUPPORTED = {"tt.dot_scaled": "products of scaled 4- and 8-bit formats are not executed"}
