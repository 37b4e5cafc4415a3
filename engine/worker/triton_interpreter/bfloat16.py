"""bfloat16 arithmetic for Triton's interpreter, which stores such numbers as integers.

Without this a product or a sum of bfloat16 tensors is the product or sum of their bit patterns, and conversions
truncate where a GPU rounds to nearest even.  Each operation is done in float32 and its result rounded once.  Patches
Triton's builder in this process, for triton 3.6 to 3.9.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import triton.language as tl
from triton.runtime import interpreter as triton_interpreter
from triton.runtime.interpreter import TensorHandle

from engine.loading.raised import InterpreterLimitError

# Triton's interpreter is not typed: its arguments and results are Any throughout this file.

_OPERATIONS = (
    "unary_op",
    "binary_op",
    "ternary_op",
    "create_fma",
    "create_erf",
    "create_rsqrt",
    "create_dot",
    "create_idiv",
)


def install() -> None:
    """Patch Triton's interpreter in this process."""
    builder = triton_interpreter.InterpreterBuilder
    for name in _OPERATIONS:
        setattr(builder, name, _in_float32(getattr(builder, name)))
    builder.cast_impl = _casting(builder.cast_impl)
    builder.create_fp_to_fp = _converting(builder.create_fp_to_fp)
    builder.create_atomic_rmw = _refusing(builder.create_atomic_rmw)


def widen(bits: Any) -> Any:
    """uint16 bit patterns of bfloat16 as float32 numbers."""
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


def narrow(values: Any) -> Any:
    """float32 numbers rounded to bfloat16, ties to even, as uint16 bit patterns; nan stays nan."""
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)
    quiet = (bits >> np.uint32(16)) | np.uint32(0x40)
    return np.where(np.isnan(values), quiet, rounded).astype(np.uint16).reshape(np.shape(values))


def _in_float32(operation: Callable[..., Any]) -> Callable[..., Any]:
    def widened(builder: Any, *args: Any, **kwargs: Any) -> Any:
        floats = [value for value in args if isinstance(value, TensorHandle) and _is_floating(value)]
        if not any(_is_bfloat16(value.dtype) for value in floats):
            return operation(builder, *args, **kwargs)
        result = operation(builder, *map(_widened, args), **kwargs)
        if all(_is_bfloat16(value.dtype) for value in floats) and result.data.dtype != np.bool_:
            return TensorHandle(narrow(result.data), tl.bfloat16)
        return result

    return widened


def _casting(cast: Callable[..., Any]) -> Callable[..., Any]:
    def cast_impl(builder: Any, src: Any, dst_type: Any) -> Any:
        if _is_bfloat16(dst_type):
            wide = _widened(src)
            return TensorHandle(narrow(wide.data.astype(np.float32)), tl.bfloat16)
        if _is_bfloat16(src.dtype):
            wide = _widened(src)
            return wide if _scalar(dst_type) == tl.float32 else cast(builder, wide, dst_type)
        return cast(builder, src, dst_type)

    return cast_impl


def _converting(convert: Callable[..., Any]) -> Callable[..., Any]:
    def create_fp_to_fp(builder: Any, src: Any, dst_type: Any, rounding_mode: Any) -> Any:
        ordinary = (tl.float16, tl.float32, tl.float64)
        if _is_bfloat16(src.dtype):
            wide = _widened(src)
            if _scalar(dst_type) in ordinary:
                return builder.cast_impl(wide, dst_type)
            return convert(builder, wide, dst_type, rounding_mode)
        towards_zero = rounding_mode is not None and rounding_mode != triton_interpreter._ir.ROUNDING_MODE.RTNE
        if _is_bfloat16(dst_type) and _scalar(src.dtype) in ordinary and not towards_zero:
            return builder.cast_impl(src, dst_type)
        return convert(builder, src, dst_type, rounding_mode)

    return create_fp_to_fp


def _refusing(atomic: Callable[..., Any]) -> Callable[..., Any]:
    def create_atomic_rmw(builder: Any, operation: Any, pointer: Any, value: Any, *rest: Any) -> Any:
        if _is_bfloat16(value.dtype) and operation != triton_interpreter._ir.ATOMIC_OP.XCHG:
            raise InterpreterLimitError("the interpreter has no atomic arithmetic on bfloat16; run it on a GPU")
        return atomic(builder, operation, pointer, value, *rest)

    return create_atomic_rmw


def _widened(value: Any) -> Any:
    if isinstance(value, TensorHandle) and _is_bfloat16(value.dtype):
        return TensorHandle(widen(value.data), tl.float32)
    return value


def _is_floating(value: Any) -> bool:
    """Whether these are floats; in Triton 3.9 booleans of a comparison have the type of the compared values."""
    return value.data.dtype != np.bool_ and bool(_scalar(value.dtype).is_floating())


def _scalar(dtype: Any) -> Any:
    return getattr(dtype, "scalar", dtype)


def _is_bfloat16(dtype: Any) -> bool:
    return bool(_scalar(dtype) == tl.bfloat16)
