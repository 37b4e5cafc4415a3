"""Advanced indexing: y[...] = self[i_0[...], i_1[...], ...], with an index tensor, a mask or None for each dimension.

Any rank from 1, any strides.  Index tensors are int64 or bool; integers may be negative (counted from the end) and
repeat, all are broadcast together, and a mask of bool takes as many dimensions as it has, in place of the coordinates
of its true elements.  The dimensions of the index come in place of the indexed ones where those are adjacent, and first
where a None separates them.  A copy: NaN and infinities are copied unchanged.  Indices out of range are outside of the
contract.  Overload: .Tensor is tested; .Tensor_out and .Tensor_hacked_twin compute the same, the overloads for lists
are TorchScript's.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, Determinism, ProblemDefinition, Tier
from problems.kit import BF16, F16, F32, FLOATS, Arguments, Layout, cases_over, torch
from problems.kit.indexing.index_lists import index_elements, make_indices
from problems.kit.indexing.positions import IndexList, positions
from problems.kit.movement import EVERY_DTYPE, case_values, copied, count, exact

_over = partial(
    cases_over, layout=Layout.CONTIGUOUS, values="mixed", index_layout=Layout.CONTIGUOUS, form="4", axes="0"
)
_NAME = "{shape} [{form}] at {axes} {dtype}"

CASES = (
    *_over(Tier.SMOKE, _NAME, shape=(9, 65), form="7", dtype=[F32, BF16]),
    *_over(Tier.SMOKE, _NAME, shape=(6, 7, 8), form="5,1 4", axes="0 2", dtype=F32),
    *_over(Tier.FULL, _NAME, shape=(1,), form="1", dtype=F32),
    *_over(Tier.FULL, _NAME, shape=(50,), form=["0", "127", "128", "129", "3,5,7"], dtype=F32),
    *_over(Tier.FULL, _NAME, shape=(0, 5), form="3", axes="1", dtype=F32),
    *_over(Tier.FULL, _NAME, shape=(31, 17), form="31", dtype=F32),
    *_over(Tier.FULL, _NAME, shape=(33, 129), form="65", axes=["0", "1"], dtype=FLOATS),
    *_over(Tier.FULL, _NAME, shape=(17, 31), form=["40 40", "13,1 5", "4,5 4,5"], axes="0 1", dtype=[F32, BF16]),
    *_over(Tier.FULL, _NAME, shape=(5, 6, 7), form=["9 9 9", "3,1,1 4,1 5"], axes="0 1 2", dtype=F32),
    *_over(Tier.FULL, _NAME, shape=(5, 6, 7, 3), form=["8 8", "2,3 3"], axes=["1 2", "0 3", "1 3"], dtype=F32),
    *_over(Tier.FULL, _NAME, shape=(3, 4, 2, 5, 6), form="7 7", axes=["0 4", "2 3"], dtype=F32),
    *_over(Tier.FULL, _NAME, shape=(33, 65), form="mask", axes=["0", "1", "0 1"], dtype=[F32, BF16]),
    *_over(Tier.FULL, _NAME, shape=(9, 8, 7), form="mask", axes=["0 1", "1 2", "0 1 2"], dtype=F32),
    *_over(Tier.FULL, _NAME, shape=(9, 40), form="11", dtype=[d for d in EVERY_DTYPE if d not in FLOATS]),
    *_over(Tier.FULL, "{shape} [{form}] at {axes} {dtype} {layout}", shape=(33, 65), form="12 12", axes="0 1",
           dtype=F32, layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.EXPANDED, Layout.OFFSET]),
    *_over(Tier.FULL, "{shape} [{form}] at {axes} {dtype} index {index_layout}", shape=(33, 65), form="6,7", dtype=F32,
           index_layout=[Layout.TRANSPOSED, Layout.STRIDED]),
    *_over(Tier.FULL, "{shape} [{form}] at {axes} {dtype} both {layout}", shape=(3, 7, 2, 3), form="5,2", axes="1",
           dtype=F16, layout=Layout.IRREGULAR, index_layout=Layout.IRREGULAR),
    *_over(Tier.FULL, "{shape} [{form}] at {axes} {dtype} {values}", shape=(7, 33), form="20", axes="1", dtype=FLOATS,
           values="special"),
    *_over(Tier.BENCH, _NAME, shape=(4096, 4096), form="2048", axes="0", dtype=BF16),
    *_over(Tier.BENCH, _NAME, shape=(1024, 1024, 8), form="65536 65536", axes="0 1", dtype=F32),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: `shape`; one index for each of `axes`, of the shape in `form`, or one mask for all of them."""
    return case_values(case, rng), make_indices(case, rng)


def reference(x: torch.Tensor, indices: IndexList) -> torch.Tensor:
    """The shape that the indices make, by flat positions in a contiguous copy."""
    return torch.take(x.contiguous(), positions(x.shape, indices))


def eager(x: torch.Tensor, indices: IndexList) -> torch.Tensor:
    """PyTorch's operator."""
    result: torch.Tensor = torch.ops.aten.index.Tensor(x, list(indices))
    return result


def cost(case: Case) -> Cost:
    """Each element is read at most once; a mask is true for half of its elements."""
    selected, index_bytes = index_elements(case)
    return copied(case, read=min(selected, count(case.shape("shape"))), written=selected, index_bytes=index_bytes)


PROBLEM = ProblemDefinition(
    name="aten::index",
    entry="index",
    signature="index(self: Tensor, indices: list[Tensor | None]) -> Tensor",
    summary="Advanced indexing with index tensors, None or a boolean mask",
    category=Category.INDEXING,
    second_oracle="PyTorch's index, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=exact,
    cost=cost,
    determinism=Determinism.EXACT,
)
