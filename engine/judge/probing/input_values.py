"""Values that `make_inputs` seldom draws, derived from drawn values: other scales, orders and repetitions.

Only arithmetic on one tensor.  Non-finite elements are kept in place, for they have a meaning; so are shape, dtype and
memory.  No value comes near the limits of its type: there an honest kernel may overflow, or flush a denormal number to
zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch

from engine.judge.compare.measures import computable
from engine.protocol import Variant

_BLOCK = 32  # elements of a vector treated as one row
_OCTAVES = {
    torch.float16: 4,
    torch.bfloat16: 4,
}  # within one tensor; more would hide small rows behind large ones
_MOST_OCTAVES = 8
_FAR = {torch.float16: 4}  # octaves from usual values to tiny and large ones
_MOST_FAR = 20
_SHORT_PERIODS = 2 * 3 * 5 * 7
_ATTEMPTS = 256


def values_of(variant: Variant, tensor: torch.Tensor, rng: torch.Generator) -> torch.Tensor:
    """Values of `tensor` in this variant; a new tensor of the same shape and dtype."""
    drawn = tensor.double()
    usual = torch.where(drawn.isfinite(), drawn, 1.0)
    made = _MADE[variant](usual, tensor.dtype, rng).to(tensor.dtype)
    return torch.where(drawn.isfinite(), made, tensor)


@dataclass(frozen=True, kw_only=True)
class Place:
    """One element of a tensor, and its new value."""

    index: tuple[int, ...]
    value: float


def one_element(
    tensor: torch.Tensor, rng: torch.Generator, *, factor: float, hidden: bool = True, in_range: bool = False
) -> Place:
    """One element and a new value, `factor` times a typical one; `in_range` limits it to the finite values there.

    A `hidden` one is where a sample would miss it: not near either end, and at no multiple of a small number, if the
    tensor is large enough for that.  Its value is at most half of the largest one of the type.
    """
    flat = _hidden(tensor.numel(), rng) if hidden else _below(tensor.numel(), rng)
    index = _index(flat, tensor.shape)
    old = float(tensor[index])
    finite = tensor[computable(tensor).isfinite()].double()
    usual = float(finite.square().mean().sqrt()) if finite.numel() else 1.0
    size = max(abs(old) if math.isfinite(old) else 0.0, usual) or 1.0
    largest = torch.finfo(tensor.dtype).max / 2
    value = -math.copysign(min(size * factor, largest), old)
    if in_range and finite.numel():
        value = min(max(value, float(finite.min())), float(finite.max()))
    return Place(index=index, value=value)


def _hidden(elements: int, rng: torch.Generator) -> int:
    margin = elements // 16
    for _ in range(_ATTEMPTS):
        flat = margin + _below(elements - 2 * margin, rng)
        if math.gcd(flat, _SHORT_PERIODS) == 1:
            return flat
    return _below(elements, rng)


def _index(flat: int, shape: torch.Size) -> tuple[int, ...]:
    index: list[int] = []
    for size in reversed(shape):
        flat, last = divmod(flat, size)
        index.insert(0, last)
    return tuple(index)


def _permuted(usual: torch.Tensor, dtype: torch.dtype, rng: torch.Generator) -> torch.Tensor:
    for dim in {0, usual.dim() - 1} if usual.dim() else ():
        order = torch.randperm(usual.shape[dim], generator=rng, device=usual.device)
        usual = usual.index_select(dim, order)
    return usual


def _scaled(usual: torch.Tensor, dtype: torch.dtype, rng: torch.Generator) -> torch.Tensor:
    """Each row scaled by a power of two, and all with one sign: rows of different signs would cancel in a sum."""
    octaves = _OCTAVES.get(dtype, _MOST_OCTAVES)
    sign = 2 * _below(2, rng) - 1
    rows = _rows(usual)
    exponents = torch.randint(-octaves, octaves + 1, (len(rows),), generator=rng, device=usual.device)
    return _unrowed(rows * (sign * torch.exp2(exponents.double())).unsqueeze(1), usual)


def _even(usual: torch.Tensor, dtype: torch.dtype, rng: torch.Generator) -> torch.Tensor:
    """About half of the rows, at least one, filled with their mean, so that sums do not change."""
    rows = _rows(usual)
    chosen = torch.rand(len(rows), generator=rng, device=usual.device) < 0.5
    chosen[_below(len(rows), rng)] = True
    return _unrowed(torch.where(chosen.unsqueeze(1), rows.mean(dim=1, keepdim=True), rows), usual)


def _equal(usual: torch.Tensor, dtype: torch.dtype, rng: torch.Generator) -> torch.Tensor:
    return usual.flatten()[_below(usual.numel(), rng)].expand_as(usual)


def _ordered(usual: torch.Tensor, dtype: torch.dtype, rng: torch.Generator) -> torch.Tensor:
    return -usual.abs().sort(dim=-1).values if usual.dim() else -usual.abs()


def _tiny(usual: torch.Tensor, dtype: torch.dtype, rng: torch.Generator) -> torch.Tensor:
    return usual * 2.0 ** -_FAR.get(dtype, _MOST_FAR)


def _large(usual: torch.Tensor, dtype: torch.dtype, rng: torch.Generator) -> torch.Tensor:
    return usual * 2.0 ** _FAR.get(dtype, _MOST_FAR)


_MADE: dict[Variant, Callable[[torch.Tensor, torch.dtype, torch.Generator], torch.Tensor]] = {
    Variant.PERMUTED: _permuted,
    Variant.SCALED: _scaled,
    Variant.EVEN: _even,
    Variant.EQUAL: _equal,
    Variant.ORDERED: _ordered,
    Variant.TINY: _tiny,
    Variant.LARGE: _large,
}


def _rows(usual: torch.Tensor) -> torch.Tensor:
    """The rows of the last dimension, or blocks of a vector, the last one padded with its last element."""
    if usual.dim() >= 2:
        return usual.reshape(-1, usual.shape[-1])
    flat = usual.flatten()
    return torch.cat((flat, flat[-1:].expand(-len(flat) % _BLOCK))).view(-1, _BLOCK)


def _unrowed(rows: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """The tensor from which `_rows` was made, with these values."""
    return rows.reshape(-1)[: like.numel()].view(like.shape)


def _below(limit: int, rng: torch.Generator) -> int:
    return int(torch.randint(limit, (), generator=rng, device=rng.device))
