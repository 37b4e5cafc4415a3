"""Flat positions by the rules of advanced indexing, and sums at positions, for operators with index tensors.

The rules are those of "Advanced indexing" in the manuals of NumPy and PyTorch, implemented here without any library
call for indexing, so that the references are independent of the operators that they verify.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.model import DType, Tolerance
from problems.kit.deferred import torch
from problems.kit.tolerances import EXACT
from problems.kit.values import distinct

IndexList = Sequence["torch.Tensor | None"]


def positions(shape: Sequence[int], indices: IndexList) -> torch.Tensor:
    """Flat positions of the selection in a contiguous tensor of `shape`; int64, in the shape of the result.

    An index tensor of integers selects along one dimension, negative numbers counted from its end; a mask of bool or
    uint8 represents the coordinates of its true elements, one tensor for each of its dimensions; None and missing
    indices take a whole dimension.  All index tensors are broadcast together. Their common dimensions replace the
    indexed dimensions if these are adjacent, and come first if they are not.
    """
    spread = _without_masks(indices)
    spread += [None] * (len(shape) - len(spread))
    chosen = {axis: index for axis, index in enumerate(spread) if index is not None}
    given = list(chosen)
    adjacent = given == list(range(given[0], given[-1] + 1))
    before = list(range(given[0])) if adjacent else []
    after = [axis for axis in range(len(shape)) if axis not in given and axis not in before]
    strides = _contiguous_strides(shape)
    total = torch.zeros((), dtype=torch.int64, device=chosen[given[0]].device)
    for axis, index in chosen.items():
        wrapped = torch.where(index < 0, index + shape[axis], index).long() * strides[axis]
        total = total + wrapped.view((*index.shape, *(1 for _ in after)))
    for place, axis in enumerate(after):
        total = total + _along(shape[axis], strides[axis], len(after) - place, total.device)
    for axis in reversed(before):
        total = _along(shape[axis], strides[axis], total.dim() + 1, total.device) + total
    return total


def put(x: torch.Tensor, flat: torch.Tensor, values: torch.Tensor, *, accumulate: bool) -> torch.Tensor:
    """A copy of x with `values` written or added at flat positions; floating-point sums in double precision."""
    spread = values.broadcast_to(flat.shape).flatten()
    if not accumulate:
        return _overwritten(x, flat.flatten(), spread)
    if x.dtype == torch.bool:
        return _overwritten(x, flat.flatten()[spread], spread[spread])
    wide = wide_dtype(x.dtype)
    summed = x.to(wide).flatten().index_add(0, flat.flatten(), spread.to(wide))
    return summed.view(x.shape).to(x.dtype)


def wide_dtype(dtype: torch.dtype) -> torch.dtype:
    """The dtype in which references sum: float64, complex128 or int64."""
    if dtype.is_complex:
        return torch.complex128
    return torch.float64 if dtype.is_floating_point else torch.int64


def accumulated(dtype: DType, *, terms: int) -> Tolerance:
    """Tolerance of sums or products of `terms` terms, each possibly rounded to `dtype`, in any order; they may cancel.

    Every step costs at most one unit in the last place of a partial result (truncation in place of rounding); a partial
    sum of normally distributed terms is at most about four times the root mean square of the output.
    """
    if dtype.epsilon == 0.0:
        return EXACT
    return Tolerance(relative=(1 + terms) * dtype.epsilon, absolute=4 * (1 + terms) * dtype.epsilon)


def repeated(count: int, below: int, times: int, rng: torch.Generator) -> torch.Tensor:
    """`count` distinct indices below `below`, each `times` times, in random order; int64."""
    return distinct(count, below, rng).repeat(times)[torch.randperm(count * times, generator=rng)]


def with_negatives(index: torch.Tensor, size: int) -> torch.Tensor:
    """The same indices, every second one counted from the end: -1 is the last of `size` elements."""
    flat = index.flatten().clone()
    flat[::2] -= size
    return flat.view(index.shape)


def _without_masks(indices: IndexList) -> list[torch.Tensor | None]:
    spread: list[torch.Tensor | None] = []
    for index in indices:
        if index is not None and index.dtype in (torch.bool, torch.uint8):
            spread += list(index.nonzero().unbind(1))
        else:
            spread.append(index)
    return spread


def _overwritten(x: torch.Tensor, flat: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    copy = x.contiguous().flatten().clone()
    return copy.scatter_(0, flat, values).view(x.shape)


def _along(size: int, stride: int, dims: int, device: torch.device) -> torch.Tensor:
    """The integers 0, 1, ... along the first of `dims` dimensions; the other dimensions have size 1."""
    return (torch.arange(size, device=device) * stride).view(size, *(1 for _ in range(dims - 1)))


def _contiguous_strides(shape: Sequence[int]) -> list[int]:
    strides = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * shape[axis + 1]
    return strides
