"""Write at indices in place: self[indices] = values, or self[indices] += values with accumulate.

Any rank from 1, any strides of all tensors.  Indices as in `index`: integers may be negative, a mask of bool replaces
coordinates, None and missing indices select a whole dimension; values are broadcast to the shape that the indices
select.  With accumulate, repeated positions receive the sum of all their values in any order, and floating sums may be
rounded after each; bool is the logical or.  Without it, it is unspecified which of several values a repeated position
receives, so the positions of the cases are distinct.  Returns self.  Overload: index_put_ is tested; .hacked_twin
computes the same.
"""

from __future__ import annotations

from engine.model import Case, Category, DType, ProblemDefinition, ReturnedMemory, Tier
from problems.kit import BF16, F16, F32, FLOATS, Arguments, Layout, torch
from problems.kit.indexing.index_put import cost, inputs, over, over_adding, tolerance, written
from problems.kit.indexing.positions import IndexList

_NAME = "{shape} [{form}] at {axes} {dtype}"
_SUM = f"{_NAME} add"

CASES = (
    *over(Tier.SMOKE, _NAME, shape=(9, 65), form="7", dtype=[F32, BF16]),
    *over_adding(Tier.SMOKE, _SUM, shape=(8, 40), form="3,5", dtype=F32),
    *over(Tier.FULL, _NAME, shape=(1,), form="1", dtype=F32),
    *over(Tier.FULL, _NAME, shape=(200,), form=["0", "127", "128", "129", "3,5,7"], dtype=F32),
    *over(Tier.FULL, _NAME, shape=(33, 129), form="21", axes=["0", "1"], dtype=FLOATS),
    *over(Tier.FULL, _NAME, shape=(17, 31), form=["40 40", "13,1 5", "4,5 4,5"], axes="0 1", dtype=[F32, BF16]),
    *over(Tier.FULL, _NAME, shape=(5, 6, 7, 3), form=["8 8", "2,1 3"], axes=["1 2", "0 2", "1 3"], dtype=F32),
    *over(Tier.FULL, _NAME, shape=(3, 4, 2, 5, 6), form="7 7", axes=["0 4", "2 3"], dtype=F32),
    *over(Tier.FULL, _NAME, shape=(33, 65), form="mask", axes=["0", "1", "0 1"], dtype=[F32, BF16]),
    *over(Tier.FULL, _NAME, shape=(9, 8, 7), form="mask", axes=["1 2", "0 1 2"], dtype=F32),
    *over(Tier.FULL, f"{_NAME} from one", shape=(33, 65), form=["mask", "40 40"], axes="0 1", dtype=F32, spread="one"),
    *over(Tier.FULL, _NAME, shape=(19, 40), form="11", dtype=[DType.FLOAT64, DType.INT64, DType.INT32, DType.INT16,
          DType.INT8, DType.UINT8, DType.BOOL]),
    *over_adding(Tier.FULL, _SUM, shape=(50,), form=["3", "126", "129"], dtype=F32),
    *over_adding(Tier.FULL, _SUM, shape=(21, 129), form="60", axes=["0", "1"], dtype=FLOATS),
    *over_adding(Tier.FULL, _SUM, shape=(5, 6, 7, 3), form="9 9", axes="1 3", dtype=F32),
    *over_adding(Tier.FULL, _SUM, shape=(3, 4, 2, 5, 6), form="6 6", axes="0 4", dtype=F32),
    *over_adding(Tier.FULL, _SUM, shape=(17, 31), form=["90 90", "6,4 6,4"], axes="0 1", dtype=[F32, BF16]),
    *over_adding(Tier.FULL, _SUM, shape=(19, 40), form="12", dtype=[DType.INT64, DType.INT32, DType.UINT8, DType.BOOL]),
    *over(Tier.FULL, f"{_NAME} {{layout}}", shape=(33, 65), form="12 12", axes="0 1", dtype=F32,
          layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.OFFSET, Layout.PADDED]),
    *over(Tier.FULL, f"{_NAME} index {{index_layout}}", shape=(53, 65), form="6,7", dtype=F32,
          index_layout=[Layout.TRANSPOSED, Layout.STRIDED]),
    *over(Tier.FULL, f"{_NAME} values {{values_layout}}", shape=(53, 65), form="12", dtype=F32,
          values_layout=[Layout.TRANSPOSED, Layout.STRIDED]),
    *over(Tier.FULL, f"{_NAME} all {{layout}}", shape=(3, 17, 2, 3), form="5,2", axes="1", dtype=F16,
          layout=Layout.IRREGULAR, index_layout=Layout.IRREGULAR, values_layout=Layout.IRREGULAR),
    *over(Tier.FULL, f"{_NAME} {{values}}", shape=(7, 33), form="20", axes="1", dtype=FLOATS, values="special"),
    *over(Tier.BENCH, _NAME, shape=(4096, 4096), form="2048", dtype=BF16),
    *over_adding(Tier.BENCH, _SUM, shape=(4096, 1024), form="6144", dtype=F32),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: `shape`; indices by `form` at `axes`; values of the shape that they select, or a single one."""
    return inputs(case, rng)


def reference(
    x: torch.Tensor, indices: IndexList, values: torch.Tensor, accumulate: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """self twice: the returned and the written tensor."""
    after = written(x, indices, values, accumulate=accumulate)
    return after, after


def eager(x: torch.Tensor, indices: IndexList, values: torch.Tensor, accumulate: bool = False) -> torch.Tensor:
    """PyTorch's operator."""
    result: torch.Tensor = torch.ops.aten.index_put_.default(x, list(indices), values, accumulate)
    return result


PROBLEM = ProblemDefinition(
    name="aten::index_put_",
    entry="index_put_",
    signature=(
        "index_put_(self: Tensor, indices: list[Tensor | None], values: Tensor, accumulate: bool = False) -> Tensor"
    ),
    summary="In-place advanced-index write, overwrite or accumulate",
    category=Category.INDEXING,
    second_oracle="PyTorch's index_put_, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    mutates=("self",),
    returned_memory=ReturnedMemory.WRITTEN,
)
