"""Shared parts of operators that return a view: values by coordinates, permitted framework calls, the cost.

A view needs no kernel, so the framework may do all of the work. A kernel that writes the result to new memory is
correct as well: values, shape and dtype are compared, not the memory behind them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from engine.model import Case, Cost, FrameworkWork
from problems.kit.cases import cases_over
from problems.kit.deferred import torch
from problems.kit.indexing.positions import positions
from problems.kit.layouts import Layout
from problems.kit.movement import copied

VIEW = (FrameworkWork.VIEWS, FrameworkWork.METADATA)
"""The framework may make the whole result as a view."""
over = partial(cases_over, layout=Layout.CONTIGUOUS, values="mixed")
LAYOUTS = [Layout.TRANSPOSED, Layout.STRIDED, Layout.EXPANDED, Layout.OFFSET]


def picked(x: torch.Tensor, sizes: Sequence[int], coordinates: dict[int, torch.Tensor]) -> torch.Tensor:
    """y of shape `sizes` with y[o] = x[c(o)], by flat positions in a contiguous copy.

    `coordinates` maps each dimension of x to its coordinates, in a shape that broadcasts to `sizes`; a dimension that
    is missing has coordinate 0.
    """
    zero = torch.zeros((), dtype=torch.int64, device=x.device)
    grid = [coordinates.get(axis, zero) for axis in range(x.dim())]
    flat = positions(x.shape, grid) if grid else zero
    values: torch.Tensor = torch.take(x.resolve_conj().resolve_neg().contiguous(), flat.broadcast_to(tuple(sizes)))
    return values


def steps(sizes: Sequence[int], axis: int, device: torch.device) -> torch.Tensor:
    """The coordinates 0, 1, ... along one dimension of an output of shape `sizes`, the others of size 1."""
    shape = [1] * len(sizes)
    shape[axis] = sizes[axis]
    return torch.arange(sizes[axis], device=device).view(shape)


def written_out(case: Case, *, read: int, written: int) -> Cost:
    """The cost of a kernel that copies the result; a view costs nothing."""
    return copied(case, read=min(read, written), written=written)


def broadcast(x: torch.Tensor, sizes: Sequence[int]) -> torch.Tensor:
    """x broadcast to the shape `sizes`, with new dimensions in front, by coordinates."""
    new = len(sizes) - x.dim()
    kept = [axis for axis in range(x.dim()) if x.shape[axis] != 1]
    return picked(x, sizes, {axis: steps(sizes, axis + new, x.device) for axis in kept})


def parts(x: torch.Tensor, lengths: Sequence[int], dim: int) -> tuple[torch.Tensor, ...]:
    """Consecutive slices of x along `dim`, by coordinates."""
    dim %= x.dim()
    made, start = [], 0
    for length in lengths:
        sizes = [length if axis == dim else size for axis, size in enumerate(x.shape)]
        grid = {axis: steps(sizes, axis, x.device) for axis in range(x.dim())}
        made.append(picked(x, sizes, grid | {dim: grid[dim] + start}))
        start += length
    return tuple(made)
