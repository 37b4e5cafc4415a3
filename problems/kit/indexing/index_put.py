"""The problem of `index_put_` and its implementation `_index_put_impl_`: cases, inputs, reference, tolerance, cost."""

from __future__ import annotations

from functools import partial

from engine.model import Case, Cost, Tolerance
from problems.kit.cases import Arguments, cases_over
from problems.kit.deferred import torch
from problems.kit.indexing.index_lists import index_elements, make_indices, selected_shape
from problems.kit.indexing.positions import IndexList, accumulated, positions, put
from problems.kit.layouts import Layout
from problems.kit.movement import any_values, case_values, copied
from problems.kit.tolerances import EXACT

over = partial(
    cases_over, layout=Layout.CONTIGUOUS, index_layout=Layout.CONTIGUOUS, values_layout=Layout.CONTIGUOUS,
    values="mixed", form="4", axes="0", picks="distinct", accumulate=False, spread="full",
)  # fmt: skip
over_adding = partial(over, picks="thrice", accumulate=True)
"""Cases that add to every selected position three times."""


def inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self, indices, values, accumulate.

    Values have the shape of the selection, or with `spread` "one" there is a single value that is broadcast.
    """
    x, indices = case_values(case, rng), make_indices(case, rng)
    shape = (1,) if case.word("spread") == "one" else selected_shape(case)
    special = case.word("values") == "special"
    values = any_values(shape, case.dtype, rng, special=special, layout=case.word("values_layout"))
    return x, indices, values, case.claim("accumulate")


def written(x: torch.Tensor, indices: IndexList, values: torch.Tensor, *, accumulate: bool) -> torch.Tensor:
    """self after the call, by flat positions; floating-point sums in double precision."""
    return put(x, positions(x.shape, indices), values, accumulate=accumulate)


def tolerance(case: Case) -> Tolerance:
    """A copy, or a sum of four terms in any order: the old element and three values."""
    return accumulated(case.dtype, terms=4) if case.claim("accumulate") else EXACT


def cost(case: Case) -> Cost:
    """Values and indices are read, selected positions are written once and, if values are added, also read."""
    selected, index_bytes = index_elements(case)
    places = selected // 3 if case.word("picks") == "thrice" else selected
    values = 1 if case.word("spread") == "one" else selected
    adds = case.claim("accumulate")
    moved = copied(case, read=values + (places if adds else 0), written=places, index_bytes=index_bytes)
    return Cost(flops=selected if adds else 0, bytes_read=moved.bytes_read, bytes_written=moved.bytes_written)
