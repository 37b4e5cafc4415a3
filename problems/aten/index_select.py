"""Slices by a list of indices: y[..., j, ...] = self[..., index[j], ...] along one dimension.

Any rank from 1, any strides of both tensors.  The index is int32 or int64, 1-D, from 0 to the size of the dimension -
1, in any order and with repetitions; negative indices, which PyTorch rejects, are outside of the contract.  A copy: NaN
and infinities are copied unchanged.  Overloads: index_select is tested; .out and .dimname compute the same.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, Determinism, DType, ProblemDefinition, Tier
from problems.kit import BF16, F16, F32, FLOATS, Arguments, Layout, cases_over, integers, laid_out, torch
from problems.kit.movement import EVERY_DTYPE, case_values, copied, count, exact

_over = partial(cases_over, layout=Layout.CONTIGUOUS, index="int64", index_layout=Layout.CONTIGUOUS, values="mixed")
_NAME = "{shape}[{picks}] dim {dim} {dtype}"

CASES = (
    *_over(Tier.SMOKE, _NAME, shape=(9, 65), picks=7, dim=0, dtype=[F32, BF16]),
    *_over(Tier.SMOKE, _NAME, shape=(5, 33, 4), picks=40, dim=1, dtype=F32),
    *_over(Tier.FULL, _NAME, shape=(1,), picks=1, dim=0, dtype=F32),
    *_over(Tier.FULL, _NAME, shape=(50,), picks=[0, 127, 128, 129], dim=0, dtype=F32),
    *_over(Tier.FULL, _NAME, shape=(0, 5), picks=3, dim=1, dtype=F32),
    *_over(Tier.FULL, _NAME, shape=(16, 1025), picks=[13, 820], dim=-1, dtype=FLOATS),
    *_over(Tier.FULL, _NAME, shape=(31, 17), picks=31, dim=0, dtype=F32),
    *_over(Tier.FULL, _NAME, shape=(257, 31), picks=300, dim=-2, dtype=[F32, BF16]),
    *_over(Tier.FULL, _NAME, shape=(3, 4, 5, 6, 7), picks=9, dim=[0, 2, 4], dtype=F32),
    *_over(Tier.FULL, _NAME, shape=(9, 40), picks=11, dim=1, dtype=EVERY_DTYPE),
    *_over(Tier.FULL, "{shape}[{picks}] dim {dim} {dtype} {index}", shape=(9, 40), picks=33, dim=0, dtype=F32,
           index="int32"),
    *_over(Tier.FULL, "{shape} dim {dim} {dtype} {layout}", shape=(33, 65), picks=20, dim=[0, 1], dtype=F32,
           layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.EXPANDED, Layout.OFFSET, Layout.PADDED]),
    *_over(Tier.FULL, "{shape} dim {dim} {dtype} index {index_layout}", shape=(33, 65), picks=20, dim=1, dtype=F32,
           index_layout=[Layout.STRIDED, Layout.OFFSET]),
    *_over(Tier.FULL, "{shape} dim {dim} {dtype} both {layout}", shape=(3, 7, 2, 3), picks=5, dim=1, dtype=F16,
           layout=Layout.IRREGULAR, index_layout=Layout.IRREGULAR),
    *_over(Tier.FULL, "{shape} dim {dim} {dtype} {values}", shape=(7, 33), picks=20, dim=1, dtype=FLOATS,
           values="special"),
    *_over(Tier.BENCH, _NAME, shape=(4096, 4096), picks=3276, dim=[0, 1], dtype=BF16),
    *_over(Tier.BENCH, _NAME, shape=(200, 2560, 3), picks=2048, dim=1, dtype=F32),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: `shape`, index: (picks,), with repetitions.  "special" values are half NaN and extremes."""
    size = case.shape("shape")[case.size("dim")]
    index = integers((case.size("picks"),), DType(case.word("index")), rng, low=0, high=size)
    return case_values(case, rng), case.size("dim"), laid_out(index, case.word("index_layout"))


def reference(x: torch.Tensor, dim: int, index: torch.Tensor) -> torch.Tensor:
    """The shape of self with as many slices as indices, by plain indexing of dimension 0."""
    return x.movedim(dim, 0)[index.long()].movedim(0, dim)


def eager(x: torch.Tensor, dim: int, index: torch.Tensor) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.index_select(x, dim, index)


def cost(case: Case) -> Cost:
    """No slice is read twice."""
    shape, picks = case.shape("shape"), case.size("picks")
    size = shape[case.size("dim")]
    slice_elements = count(shape) // max(size, 1)
    return copied(
        case,
        read=min(picks, size) * slice_elements,
        written=picks * slice_elements,
        index_bytes=picks * DType(case.word("index")).bytes,
    )


PROBLEM = ProblemDefinition(
    name="aten::index_select",
    entry="index_select",
    signature="index_select(self: Tensor, dim: int, index: Tensor) -> Tensor",
    summary="Select slices along a dim by a 1-D index",
    category=Category.INDEXING,
    second_oracle="PyTorch's index_select, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=exact,
    cost=cost,
    determinism=Determinism.EXACT,
)
