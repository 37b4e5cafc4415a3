"""Input values: full-entropy, of both signs, and of several magnitudes inside one tensor.

Uniform, constant or single-scale inputs let a kernel skip a maximum, a mask or an absolute value
unnoticed.  All randomness comes from the generator that the caller passes in.
"""

from __future__ import annotations

from engine.model import DType
from problems.kit.deferred import torch


def torch_dtype(dtype: DType) -> torch.dtype:
    """The torch dtype of the same name."""
    found = getattr(torch, dtype.value)
    assert isinstance(found, torch.dtype)
    return found


def normal(shape: tuple[int, ...], dtype: DType, rng: torch.Generator) -> torch.Tensor:
    """Normally distributed around 0 with standard deviation 1."""
    return torch.randn(shape, generator=rng).to(torch_dtype(dtype))


def mixed(
    shape: tuple[int, ...], dtype: DType, rng: torch.Generator, *, octaves: int = 2, mean: float = 0.0
) -> torch.Tensor:
    """As `normal` but around `mean`, each row scaled by its own power of two.

    The exponents go from -octaves to +octaves.  A row is what the last dimension spans; in a vector
    each element has its own scale.
    """
    scaled = shape if len(shape) < 2 else (*shape[:-1], 1)
    exponents = torch.randint(-octaves, octaves + 1, scaled, generator=rng)
    return ((torch.randn(shape, generator=rng) + mean) * torch.exp2(exponents)).to(torch_dtype(dtype))


def integers(shape: tuple[int, ...], dtype: DType, rng: torch.Generator, *, low: int, high: int) -> torch.Tensor:
    """Whole numbers from `low` up to but not including `high`."""
    return torch.randint(low, high, shape, generator=rng).to(torch_dtype(dtype))


def distinct(count: int, below: int, rng: torch.Generator) -> torch.Tensor:
    """`count` different numbers under `below` in random order, int64; a tensor that ends with the last of them."""
    return torch.randperm(below, generator=rng)[:count].clone()
