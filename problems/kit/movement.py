"""Shared parts of operators that only move data: values of any dtype, the exact tolerance, and the cost in bytes."""

from __future__ import annotations

import math
from collections.abc import Iterable

from engine.model import Case, Cost, DType, Tolerance
from problems.kit.deferred import torch
from problems.kit.layouts import laid_out
from problems.kit.tolerances import EQUAL, EXACT
from problems.kit.values import integers, mixed, scattered

EVERY_DTYPE = [
    DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16, DType.FLOAT64, DType.INT64, DType.INT32, DType.INT16, DType.INT8,
    DType.UINT8, DType.BOOL, DType.COMPLEX64, DType.COMPLEX128,
]  # fmt: skip
"""The dtypes of operators that move data of any type."""

_RANGES = {
    DType.INT64: (-(2**62), 2**62),
    DType.INT32: (-(2**31), 2**31),
    DType.INT16: (-(2**15), 2**15),
    DType.INT8: (-(2**7), 2**7),
    DType.UINT8: (0, 2**8),
    DType.BOOL: (0, 2),
}
_COMPLEX_PARTS = {DType.COMPLEX64: DType.FLOAT32, DType.COMPLEX128: DType.FLOAT64}
_SPECIAL_SHARE = 12  # one element in twelve has each of the six special values


def any_values(
    shape: tuple[int, ...], dtype: DType, rng: torch.Generator, *, special: bool = False, layout: str = "contiguous"
) -> torch.Tensor:
    """Values of any dtype in the layout called `layout`.

    Floats are `mixed`, integers cover their whole range (int64 half of it), both parts of complex numbers are `mixed`.
    With `special`, half of the elements of a floating tensor are NaN, infinite, -0.0, very large or subnormal.
    """
    return laid_out(_values(shape, dtype, rng, special=special), layout)


def case_values(case: Case, rng: torch.Generator, *, shape: str = "shape", layout: str = "layout") -> torch.Tensor:
    """`any_values` of the case's shape and layout parameters; special if the parameter `values` is "special"."""
    special = case.params.get("values") == "special"
    return any_values(case.shape(shape), case.dtype, rng, special=special, layout=case.word(layout))


def usual_number(dtype: DType) -> float:
    """A number to fill a tensor with: 7.5 for floats, one that float32 rounds for int32, float64 for int64, else 7."""
    return 7.5 if dtype.epsilon else {DType.INT32: 2**24 + 1, DType.INT64: 2**53 + 1}.get(dtype, 7)


def exact(case: Case) -> Tolerance:
    """A copy: bitwise equality."""
    return EXACT


def equal(case: Case) -> Tolerance:
    """Equal values; a zero may have either sign, since a kernel may negate x as 0 - x and write c as 0 + c."""
    return EQUAL


def copied(case: Case, *, read: int, written: int, index_bytes: int = 0) -> Cost:
    """No arithmetic: elements of the case's dtype read and written, and bytes of indices or masks read."""
    return Cost(flops=0, bytes_read=read * case.dtype.bytes + index_bytes, bytes_written=written * case.dtype.bytes)


def count(shape: Iterable[int]) -> int:
    """The number of elements of a tensor of this shape."""
    return math.prod(shape)


def _values(shape: tuple[int, ...], dtype: DType, rng: torch.Generator, *, special: bool) -> torch.Tensor:
    if dtype in _COMPLEX_PARTS:
        real, imaginary = (_values(shape, _COMPLEX_PARTS[dtype], rng, special=special) for _ in range(2))
        return torch.complex(real, imaginary)
    if dtype in _RANGES:
        low, high = _RANGES[dtype]
        return integers(shape, dtype, rng, low=low, high=high)
    x = mixed(shape, dtype, rng)
    return scattered(x, rng, each=x.numel() // _SPECIAL_SHARE + 1) if special else x
