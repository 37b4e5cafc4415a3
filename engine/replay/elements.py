"""Elements of tensors in numpy: views of bytes, and the casts that a copy of torch makes."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.errors import UnsupportedError
from engine.machine.ir import Scalar
from engine.machine.numerics import Array, decode, encode, is_coded
from engine.protocol.proof.tape import ELEMENT_BYTES, TapedView

_SCALARS = {
    "float16": Scalar.F16, "bfloat16": Scalar.BF16, "float32": Scalar.F32, "float64": Scalar.F64,
    "float8_e4m3fn": Scalar.F8E4M3FN, "float8_e5m2": Scalar.F8E5M2,
    "float8_e4m3fnuz": Scalar.F8E4M3FNUZ, "float8_e5m2fnuz": Scalar.F8E5M2FNUZ,
}  # fmt: skip
_CODES = {"bfloat16": "uint16", "float4_e2m1fn_x2": "uint8"}  # numpy has no such types: arrays hold the bits


def scalar_of(dtype: str) -> Scalar:
    """The element type under which the machine reports an element in a finding."""
    integers = {1: Scalar.I8, 2: Scalar.I16, 4: Scalar.I32, 8: Scalar.I64, 16: Scalar.I64}
    return _SCALARS.get(dtype) or integers[ELEMENT_BYTES[dtype]]


def view_of(content: Array, view: TapedView) -> Array:
    """The elements of a checked view of a storage's bytes; they share its memory."""
    dtype = _numpy_dtype(view.dtype)
    if 0 in view.shape:
        return np.empty(view.shape, dtype)
    strides = tuple(stride * dtype.itemsize for stride in view.strides)
    return np.ndarray(view.shape, dtype, buffer=content.data, offset=view.offset_bytes, strides=strides)


def cast(elements: Array, source: str, target: str) -> Array:
    """Elements of type `source` as `target`, rounded as `Tensor.to` does.

    Raises:
        UnsupportedError: a cast to an 8-bit float, whose overflow depends on the version of torch.
    """
    if source == target:
        return elements
    if target.startswith("float8"):
        raise UnsupportedError(f"a copy from {source} to {target}")
    numbers = decode(_SCALARS[source], elements) if source in _SCALARS else elements
    if target == "bfloat16":
        return encode(Scalar.BF16, _to_float32(numbers))
    if target == "float16":
        return _to_float32(numbers).astype(np.float16)
    return numbers.astype(_numpy_dtype(target))


def look_up(source: Array, positions: Array, dimension: int, *, each: bool, wrap: bool) -> Array:
    """The elements of `source` at `positions` along a dimension: whole slices, or with `each` single elements.

    Positions out of bounds are taken modulo the dimension's length with `wrap`.

    Raises:
        UnsupportedError: a position is out of bounds, and there is no `wrap`.
    """
    length = source.shape[dimension]
    outside = positions.size and bool(((positions < -length) | (positions >= length)).any())
    if outside and not (wrap and length):
        raise UnsupportedError(f"a look-up at a position outside of a dimension of {length}")
    places = positions % length if length else positions
    if not each:
        return np.take(source, places, axis=dimension)
    within = tuple(slice(None) if number == dimension else slice(size) for number, size in enumerate(positions.shape))
    return np.take_along_axis(source[within], places, axis=dimension)


def _to_float32(numbers: Array) -> Array:
    """Numbers in float32: torch rounds to 16-bit floats from float32, even from a float64."""
    return (numbers.real if np.iscomplexobj(numbers) else numbers).astype(np.float32)


def _numpy_dtype(name: str) -> np.dtype[Any]:  # Any: the element type is only known when it runs
    if name in _SCALARS and is_coded(_SCALARS[name]):
        return np.dtype(_CODES.get(name, "uint8"))
    return np.dtype(_CODES.get(name, name))
