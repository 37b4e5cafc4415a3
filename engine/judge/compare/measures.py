"""Measures of outputs: their typical size, and the number of representable values between two.

Every comparison uses these, so that no two comparisons differ in what they allow.
"""

from __future__ import annotations

import math
import sys

import torch

INTEGER_OF = {
    torch.float64: torch.int64,
    torch.float32: torch.int32,
    torch.float16: torch.int16,
    torch.bfloat16: torch.int16,
    torch.float8_e4m3fn: torch.int8,
    torch.float8_e5m2: torch.int8,
    torch.float8_e4m3fnuz: torch.int8,
    torch.float8_e5m2fnuz: torch.int8,
}
"""The integer type of the same size, for types whose representable values are counted."""


def typical(sizes: torch.Tensor, count: torch.Tensor | int) -> torch.Tensor:
    """Root mean square of `count` float64 values, given by their absolute values; missing ones are 0.

    Scaled first: squares of large values overflow, and then everything would be allowed.
    """
    scale = sizes.max().clamp(min=sys.float_info.min)
    norm: torch.Tensor = torch.linalg.vector_norm(sizes / scale)
    return scale * norm / (math.sqrt(count) if isinstance(count, int) else count.double().sqrt())


def typical_each(sizes: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:
    """As `typical`, for each row of `sizes`, (n, k) float64; `counts` and the result are (n, 1)."""
    scales = sizes.amax(dim=1, keepdim=True).clamp(min=sys.float_info.min)
    norms: torch.Tensor = torch.linalg.vector_norm(sizes / scales, dim=1, keepdim=True)
    return scales * norms / counts.double().sqrt()


def ulps(here: torch.Tensor, there: torch.Tensor) -> torch.Tensor:
    """Number of representable values in between, in float64; both as numbered by `ordered`."""
    # Exact in int64 on one side of zero; across it the sum may need one bit more than int64 has.
    across = here.abs().double() + there.abs().double()
    return torch.where((here < 0) == (there < 0), (here - there).abs().double(), across)


def ordered(values: torch.Tensor) -> torch.Tensor:
    """Floats as int64 that number the representable values, so that neighbours differ by one."""
    integer = INTEGER_OF[values.dtype]
    bits = values.contiguous().view(integer).long()
    magnitude = bits & torch.iinfo(integer).max
    return torch.where(bits < 0, -magnitude, magnitude)


def other_zero(got: torch.Tensor, expected: torch.Tensor) -> torch.Tensor:
    """Where `got` has the zero of the other sign, in one of its parts if it is complex; False for integers.

    Both are of one type and shape, and so is the mask.
    """
    if got.is_complex():
        parts = other_zero(torch.view_as_real(got.resolve_conj()), torch.view_as_real(expected.resolve_conj()))
        return parts.any(dim=-1)
    integer = INTEGER_OF.get(got.dtype)
    if integer is None:
        return torch.zeros(got.shape, dtype=torch.bool, device=got.device)
    bits, wanted = got.contiguous().view(integer), expected.contiguous().view(integer)
    limits = torch.iinfo(integer)
    return ((bits ^ wanted) == limits.min) & ((wanted & limits.max) == 0)


def equal_or_nan(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Where elements are equal, or NaN in both; the shapes broadcast."""
    return (one == other) | ((one != one) & (other != other))


def consists_of(values: torch.Tensor, byte: int) -> torch.Tensor:
    """Which elements consist of this byte alone, such as the one that fills memory before a call."""
    return (bytes_of(values) == byte).all(dim=1).view(values.shape)


def computable(values: torch.Tensor) -> torch.Tensor:
    """The values in a type with arithmetic and comparisons in torch; for other types only equality is defined.

    Float8 as float16, which holds each of them; unsigned integers as int64, where uint64 from 2 ** 63 wraps around.
    """
    if values.dtype in (torch.uint16, torch.uint32):
        return values.long()
    if values.dtype == torch.uint64:
        return values.view(torch.int64)
    is_float8 = values.dtype.is_floating_point and values.dtype.itemsize == 1
    return values.half() if is_float8 else values


def bytes_of(values: torch.Tensor) -> torch.Tensor:
    """The bytes of a tensor, one row for each element, in the order of the coordinates."""
    # Not `contiguous().view(-1, 1)`: a tensor of one element is contiguous whatever its stride, and keeps it.
    column = values.contiguous().as_strided((values.numel(), 1), (1, 1))
    return column.view(torch.uint8)


def raw(values: torch.Tensor) -> torch.Tensor:
    """The values in a type that can be compared for equality: the byte of a boolean may have any value."""
    return values.view(torch.uint8) if values.dtype == torch.bool else values
