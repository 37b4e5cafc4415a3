"""Operands of products of quantised matrices."""

from __future__ import annotations

from problems.kit.deferred import torch
from problems.kit.inference.fp8 import e4m3_codes


def operand(shape: tuple[int, int], kind: str, rng: torch.Generator) -> torch.Tensor:
    """int8 over all levels, or e4m3fn values around 0."""
    if kind == "int8":
        return torch.randint(-128, 128, shape, generator=rng, dtype=torch.int8)
    return e4m3_codes(torch.randn(shape, generator=rng, dtype=torch.float64) * 4).view(torch.float8_e4m3fn)


def factor(shape: tuple[int, int], rng: torch.Generator) -> torch.Tensor:
    """float32 scales from 0.005 to 0.015."""
    return torch.rand(shape, generator=rng) * 0.01 + 0.005
