"""Operands of comparisons: equal pairs, and pairs of adjacent numbers, which a narrower dtype rounds to one value."""

from __future__ import annotations

from engine.model import Case
from problems.kit.deferred import torch
from problems.kit.pointwise.binary import binary_values

_COMPARED_WITH, _OR_WITH = 2.0, -0.5  # numbers that replace other in scalar cases
_ROUNDED = 0  # the second number truncated to an integer


def compared_values(case: Case, rng: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """self and other; if their shapes and dtypes agree, a third of the pairs is equal and a third is adjacent."""
    left, right = binary_values(case, rng)
    share = torch.rand(left.shape, generator=rng)
    if case.word("values") == "usual" and left.dtype != torch.bool and not left.is_complex():
        other = _OR_WITH if left.is_floating_point() else _ROUNDED
        left = left.masked_fill(share < 1 / 12, _COMPARED_WITH).masked_fill(share > 11 / 12, other)
    if left.shape != right.shape or left.dtype != right.dtype:
        return left, right
    if case.word("values") == "special":
        right[-1], right[-2] = left[-1], torch.finfo(left.dtype).max
        left[-2, ::2] = torch.inf
        return left, right
    towards = torch.where(share < 1 / 2, torch.inf, -torch.inf)
    return left, torch.where(share < 1 / 3, left, torch.where(share < 2 / 3, _neighbour(left, towards), right))


def _neighbour(x: torch.Tensor, towards: torch.Tensor) -> torch.Tensor:
    """The next number towards inf or -inf, also of integers; integer limits, booleans, complex numbers unchanged."""
    if x.is_floating_point():
        return torch.nextafter(x, towards.to(x.dtype))
    if x.is_complex() or x.dtype == torch.bool:
        return x
    limits = torch.iinfo(x.dtype)
    is_end = x == torch.where(towards > 0, limits.max, limits.min)
    return torch.where(is_end, x, x + towards.sign().to(x.dtype))
