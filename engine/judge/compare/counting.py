"""Number of wrong elements of outputs by the rule of `compare`, counted a piece at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from engine.judge.compare.compare import compare_elements, of_another_kind, scale_of
from engine.judge.compare.pieces import pieces
from engine.model import Tolerance
from engine.protocol.tensors import dtype_name


@dataclass(frozen=True, kw_only=True)
class WrongCounts:
    """Wrong elements of each value, and elements at which all of a subset of the values are wrong."""

    each: tuple[int, ...]
    of_all: int


def count_wrong(got: torch.Tensor, expected: torch.Tensor, tolerance: Tolerance) -> int:
    """Number of elements that `compare` calls wrong; all elements of an output of another kind."""
    if of_another_kind("", dtype_name(got.dtype), tuple(got.shape), expected) is not None:
        return expected.numel()
    return count_wrong_each((got,), expected, tolerance).each[0]


def count_wrong_each(
    values: Sequence[torch.Tensor], expected: torch.Tensor, tolerance: Tolerance, *, together: Sequence[int] = ()
) -> WrongCounts:
    """Counts for values with the type and shape of `expected`; `of_all` is for those numbered `together`."""
    if not expected.numel() or not values:
        return WrongCounts(each=(0,) * len(values), of_all=0)
    scale = scale_of(expected, tolerance)
    each: list[torch.Tensor] = []
    of_all: list[torch.Tensor] = []
    for wanted, *parts in pieces(expected, *values):
        wrong = torch.stack([compare_elements(part, wanted, tolerance, scale=scale).wrong for part in parts])
        each.append(wrong.sum(dim=1))
        if together:
            of_all.append(wrong[list(together)].all(dim=0).sum())
    total = int(torch.stack(of_all).sum()) if of_all else 0
    return WrongCounts(each=tuple(torch.stack(each).sum(dim=0).tolist()), of_all=total)
