"""The 8-bit floating point formats e4m3 and e5m2 as bytes: values of codes, and codes of values.

A code is sign, exponent and mantissa from the highest bit down (Micikevicius et al., FP8 Formats for Deep Learning,
2022).  e4m3 in the variant "fn" has a bias of 7, no infinity, and NaN at 0x7F and 0xFF only; its largest value is 448.
The arithmetic is float64, in which every value, and every midpoint of two neighbours, is exact.
"""

from __future__ import annotations

from engine.model import DType
from problems.kit.deferred import torch
from problems.kit.values import torch_dtype

E4M3_MAX = 448.0
_MANTISSA_BITS, _BIAS, _LARGEST_CODE = 3, 7, 0x7E
_LEAST_NORMAL_EXPONENT = 1 - _BIAS


def e4m3_values(codes: torch.Tensor) -> torch.Tensor:
    """float64 values of e4m3fn codes, uint8 of any shape."""
    bits = codes.int()
    exponent, mantissa = bits >> _MANTISSA_BITS & 0xF, (bits & 0x7).double()
    is_normal = exponent > 0
    fraction = mantissa / 8 + is_normal.double()
    magnitude = torch.ldexp(fraction, torch.where(is_normal, exponent - _BIAS, _LEAST_NORMAL_EXPONENT))
    magnitude = magnitude.masked_fill(bits & 0x7F == 0x7F, torch.nan)
    return torch.where(bits & 0x80 != 0, -magnitude, magnitude)


def e4m3_codes(values: torch.Tensor) -> torch.Tensor:
    """The e4m3fn codes of float64 values: to nearest, ties to even; saturated at 448; NaN is 0x7F."""
    positive = e4m3_values(torch.arange(_LARGEST_CODE + 1, dtype=torch.uint8, device=values.device))
    midpoints = (positive[1:] + positive[:-1]) / 2
    size = values.abs().clamp(max=E4M3_MAX).nan_to_num(nan=0.0).contiguous()
    codes = torch.bucketize(size, midpoints)
    is_tie = size == midpoints[codes.clamp(max=len(midpoints) - 1)]
    codes = torch.where(is_tie & (codes % 2 == 1), codes + 1, codes)
    codes = torch.where(values.signbit(), codes | 0x80, codes)
    return codes.masked_fill(values.isnan(), 0x7F).to(torch.uint8)


def cast_to_e4m3(values: torch.Tensor) -> torch.Tensor:
    """The codes by PyTorch's conversion of float32, saturated first, as in usual PyTorch code."""
    return values.float().clamp(-E4M3_MAX, E4M3_MAX).to(torch.float8_e4m3fn).view(torch.uint8)


def cast_from_e4m3(codes: torch.Tensor) -> torch.Tensor:
    """The float32 values by PyTorch's conversion."""
    return codes.contiguous().view(torch.float8_e4m3fn).float()


def off_the_ties(shape: tuple[int, ...], dtype: DType, rng: torch.Generator, *, scale: float) -> torch.Tensor:
    """Values of `dtype` whose quotient by `scale` is within 1/50 of an e4m3 value.

    Half the distance between two neighbours is at least 1/30 of the larger one, so no order of roundings in float32
    changes a code.  Some values far exceed 448 and saturate; zeros of both signs and subnormals occur.
    """
    codes = torch.randint(0, 256, shape, generator=rng, dtype=torch.uint8)
    codes = codes.masked_fill(codes & 0x7F == 0x7F, 0x12)
    nudge = 1 + (torch.rand(shape, generator=rng, dtype=torch.float64) - 0.5) / 25
    exceeding = torch.rand(shape, generator=rng) < _EXCEEDING_SHARE
    size = torch.where(exceeding, 8.0, 1.0)
    return (e4m3_values(codes) * nudge * size * scale).to(torch_dtype(dtype))


def on_the_ties(shape: tuple[int, ...], dtype: DType, rng: torch.Generator, *, scale: float) -> torch.Tensor:
    """Values of `dtype` whose quotient by `scale`, a power of two, is in the middle between two e4m3 values.

    Every float dtype holds these values and their quotients, so no order of roundings changes a code.
    """
    codes = torch.randint(0, _LARGEST_CODE, shape, generator=rng, dtype=torch.uint8)
    middle = (e4m3_values(codes) + e4m3_values(codes + 1)) / 2
    sign = torch.where(torch.rand(shape, generator=rng) < 1 / 2, -1.0, 1.0)
    return (sign * middle * scale).to(torch_dtype(dtype))


_EXCEEDING_SHARE = 0.02
