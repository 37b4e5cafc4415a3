"""Lists of index tensors from the parameters of a case, for `index` and the operators that write at indices.

`axes` names the indexed dimensions ("0 2"); the list has None for dimensions between them. `form` gives the shape of
each index tensor ("5,1 4"), or is "mask": one mask over all of the axes, true for half of its elements. `picks` is how
often one position is selected: "any" number of times (the default), "distinct", or "thrice".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.model import Case, DType
from problems.kit.deferred import torch
from problems.kit.indexing.positions import repeated, with_negatives
from problems.kit.layouts import laid_out
from problems.kit.movement import count
from problems.kit.values import distinct, integers

if TYPE_CHECKING:
    from engine.model import Value

_TIMES = 3


def make_indices(case: Case, rng: torch.Generator) -> list[Value]:
    """The list of index tensors of a case; every second integer is negative, `index` is their dtype."""
    axes = _axes(case)
    tensors = [_mask(case, rng)] if case.word("form") == "mask" else _coordinates(case, rng)
    made: list[Value] = [None] * (axes[0] + 1 if case.word("form") == "mask" else axes[-1] + 1)
    for axis, tensor in zip(axes, tensors, strict=False):
        made[axis] = laid_out(tensor, case.word("index_layout"))
    return made


def selected_shape(case: Case) -> tuple[int, ...]:
    """The shape of the selection of self by the indices."""
    shape, axes = case.shape("shape"), _axes(case)
    rest = [size for axis, size in enumerate(shape) if axis not in axes]
    before = axes[0] if axes == list(range(axes[0], axes[-1] + 1)) else 0
    return (*rest[:before], *_index_shape(case), *rest[before:])


def index_elements(case: Case) -> tuple[int, int]:
    """Number of selected elements of self, repetitions counted, and the bytes of the indices."""
    index_bytes = count(_sizes(case)) if case.word("form") == "mask" else sum(map(count, _forms(case))) * 8
    return count(selected_shape(case)), index_bytes


def _index_shape(case: Case) -> tuple[int, ...]:
    """The common shape of the index tensors; for a mask, the number of its true elements."""
    if case.word("form") == "mask":
        return (count(_sizes(case)) // 2,)
    forms = _forms(case)
    rank = max(map(len, forms))
    aligned = [(1,) * (rank - len(form)) + form for form in forms]
    return tuple(next((size for size in sizes if size != 1), 1) for sizes in zip(*aligned, strict=True))


def _coordinates(case: Case, rng: torch.Generator) -> list[torch.Tensor]:
    forms, sizes = _forms(case), _sizes(case)
    if len(set(forms)) == 1:  # positions are drawn jointly over all dimensions
        flat = _picked(count(forms[0]), count(sizes), case, rng).view(forms[0])
        found: list[torch.Tensor] = []
        for size in reversed(sizes):
            found.insert(0, flat % size)
            flat = flat // size
    else:
        found = [_picked(count(form), size, case, rng).view(form) for form, size in zip(forms, sizes, strict=True)]
    return [with_negatives(index, size) for index, size in zip(found, sizes, strict=True)]


def _picked(picks: int, below: int, case: Case, rng: torch.Generator) -> torch.Tensor:
    match case.params.get("picks", "any"):
        case "distinct":
            return distinct(picks, below, rng)
        case "thrice":
            return repeated(picks // _TIMES, below, _TIMES, rng)
        case _:
            return integers((picks,), DType.INT64, rng, low=0, high=below)


def _mask(case: Case, rng: torch.Generator) -> torch.Tensor:
    sizes = _sizes(case)
    mask = torch.zeros(count(sizes), dtype=torch.bool)
    mask[distinct(count(sizes) // 2, count(sizes), rng)] = True
    return mask.view(sizes)


def _axes(case: Case) -> list[int]:
    return [int(axis) for axis in case.word("axes").split()]


def _sizes(case: Case) -> tuple[int, ...]:
    return tuple(case.shape("shape")[axis] for axis in _axes(case))


def _forms(case: Case) -> list[tuple[int, ...]]:
    return [tuple(int(size) for size in form.split(",")) for form in case.word("form").split()]
