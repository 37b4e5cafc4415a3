"""Implementation of index_put_: self[indices] = values, or += with accumulate; unsafe omits the check of the range.

The contract of `index_put_`: negative indices count from the end, masks replace coordinates, values at repeated
positions are added in any order with accumulate and are distinct in the cases without it.  No index is out of range, so
`unsafe` changes nothing of the result.  Any rank from 1, any strides.  float64 is outside of the contract.  Returns
self.  Overload: _index_put_impl_ is tested; .hacked_twin computes the same.
"""

from __future__ import annotations

from engine.model import Case, Category, DType, ProblemDefinition, ReturnedMemory, Tier
from problems.kit import BF16, F16, F32, FLOATS, Arguments, Layout, torch
from problems.kit.indexing.index_put import cost, inputs, over, over_adding, tolerance, written
from problems.kit.indexing.positions import IndexList

_NAME = "{shape} [{form}] at {axes} {dtype}"
_SUM = f"{_NAME} add"

CASES = (
    *over(Tier.SMOKE, _NAME, shape=(8, 33), form="5 5", axes="0 1", dtype=[F32, BF16], unsafe=False),
    *over_adding(Tier.SMOKE, _SUM, shape=(8, 40), form="15", dtype=F32, unsafe=True),
    *over(Tier.FULL, f"{_NAME} unsafe {{unsafe}}", shape=(32, 32), form="20", dtype=F32, unsafe=[False, True]),
    *over(Tier.FULL, _NAME, shape=(64, 9, 31), form=["31", "1", "0"], dtype=FLOATS, unsafe=True),
    *over(Tier.FULL, _NAME, shape=(17, 31), form=["129 129", "13,1 5"], axes="0 1", dtype=[F32, BF16], unsafe=False),
    *over(Tier.FULL, _NAME, shape=(5, 6, 3, 4, 2), form="9 9", axes=["0 1", "1 3"], dtype=F32, unsafe=False),
    *over(Tier.FULL, _NAME, shape=(13, 29), form="mask", axes=["0", "0 1"], dtype=F32, unsafe=False),
    *over(Tier.FULL, _NAME, shape=(9, 8, 7), form="mask", axes="0 1 2", dtype=F32, unsafe=False),
    *over(Tier.FULL, _NAME, shape=(19, 20), form="11", dtype=[DType.INT64, DType.UINT8, DType.BOOL], unsafe=False),
    *over_adding(Tier.FULL, _SUM, shape=(32, 32), form=["9", "60"], dtype=FLOATS, unsafe=False),
    *over_adding(Tier.FULL, _SUM, shape=(5, 6, 7, 3), form="9 9", axes="1 3", dtype=F32, unsafe=True),
    *over_adding(Tier.FULL, _SUM, shape=(3, 4, 2, 5, 6), form="6 6", axes="0 4", dtype=F32, unsafe=True),
    *over_adding(Tier.FULL, _SUM, shape=(17, 31), form="90 90", axes="0 1", dtype=[F32, DType.INT64], unsafe=False),
    *over(Tier.FULL, f"{_NAME} all {{layout}}", shape=(3, 17, 2, 3), form="5,2", axes="1", dtype=F32, unsafe=False,
          layout=Layout.IRREGULAR, index_layout=Layout.IRREGULAR, values_layout=Layout.IRREGULAR),
    *over_adding(Tier.FULL, f"{_SUM} all {{layout}}", shape=(3, 17, 2), form="5,3", axes="1", dtype=F16, unsafe=False,
          layout=Layout.IRREGULAR, index_layout=Layout.IRREGULAR, values_layout=Layout.IRREGULAR),
    *over(Tier.FULL, f"{_NAME} {{values}}", shape=(7, 33), form="20", axes="1", dtype=FLOATS, values="special",
          unsafe=False),
    *over(Tier.BENCH, _NAME, shape=(64, 512, 512), form="8192 8192", axes="0 1", dtype=BF16, unsafe=True),
    *over_adding(Tier.BENCH, _SUM, shape=(4096, 1024), form="6144", dtype=F32, unsafe=True),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self, indices, values and accumulate as in index_put_, and unsafe."""
    return *inputs(case, rng), case.claim("unsafe")


def reference(
    x: torch.Tensor, indices: IndexList, values: torch.Tensor, accumulate: bool = False, unsafe: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """self twice: as the returned and as the written tensor."""
    after = written(x, indices, values, accumulate=accumulate)
    return after, after


def eager(
    x: torch.Tensor, indices: IndexList, values: torch.Tensor, accumulate: bool = False, unsafe: bool = False
) -> torch.Tensor:
    """PyTorch's operator."""
    result: torch.Tensor = torch.ops.aten._index_put_impl_.default(x, list(indices), values, accumulate, unsafe)
    return result


PROBLEM = ProblemDefinition(
    name="aten::_index_put_impl_",
    entry="_index_put_impl_",
    signature=(
        "_index_put_impl_(self: Tensor, indices: list[Tensor | None], values: Tensor, accumulate: bool = False, "
        "unsafe: bool = False) -> Tensor"
    ),
    summary="Write values at index tuples, the implementation of index_put_",
    category=Category.INDEXING,
    second_oracle="PyTorch's _index_put_impl_, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    mutates=("self",),
    returned_memory=ReturnedMemory.WRITTEN,
)
