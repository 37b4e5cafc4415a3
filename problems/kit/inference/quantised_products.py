"""Operands of products of quantised matrices."""

from __future__ import annotations

from problems.kit.deferred import torch
from problems.kit.inference.fp8 import e4m3_codes

_END, _ENDS = 120.0, 8  # 120 is exact in e4m3


def operand(shape: tuple[int, int], kind: str, rng: torch.Generator) -> torch.Tensor:
    """int8 over all levels, or e4m3fn values around 0."""
    if kind == "int8":
        return torch.randint(-128, 128, shape, generator=rng, dtype=torch.int8)
    return e4m3_codes(torch.randn(shape, generator=rng, dtype=torch.float64) * 4).view(torch.float8_e4m3fn)


def detour_operands(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """(M, K) and (K, N) of one quantised type, with partial sums that are much larger than the sums.

    The first and last eight columns of a are 120 and -120, the other
    elements are small, and the last eight rows of b repeat the first ones: a kernel that rounds scaled partial sums to
    16 bits between blocks of K is wrong.
    """
    wide = a.float()
    wide = torch.sign(wide) * wide.abs().fmod(3.0).floor()
    wide[:, :_ENDS], wide[:, -_ENDS:] = _END, -_END
    rows = torch.cat((b.float()[:-_ENDS], b.float()[:_ENDS]))
    return wide.to(a.dtype), rows.to(b.dtype)


def factor(shape: tuple[int, int], rng: torch.Generator) -> torch.Tensor:
    """float32 scales from 0.005 to 0.015."""
    return torch.rand(shape, generator=rng) * 0.01 + 0.005
