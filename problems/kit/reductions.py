"""Reductions of some or all dimensions: their cases, inputs and cost.

The parameter `dims` of a case is the dimensions, or "all" for every dimension.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from engine.model import Case, Cost, DType, Parameter, Tier
from problems.kit.cases import BF16, FLOATS, cases_over
from problems.kit.deferred import torch
from problems.kit.layouts import Layout, laid_out
from problems.kit.pointwise.unary import drawn
from problems.kit.values import Special, special_rows

reduction_over = partial(cases_over, dims=(-1,), keepdim=False, layout=Layout.CONTIGUOUS, values="usual")
_ROWS = (
    Special.NAN, Special.INF, Special.NEGATIVE_INF, Special.BOTH_INF, Special.ALL_NEGATIVE_INF, Special.LARGE,
    Special.ALL_NEGATIVE_ZERO, Special.NAN_BEFORE_INF, Special.INF_BEFORE_NAN, Special.TWO_NANS,
)  # fmt: skip


def reduction_cases(*, dtype: Sequence[DType], several: bool = True, **options: Parameter) -> tuple[Case, ...]:
    """The cases of an operator of any rank that reduces no empty dimension; several dimensions if `several`."""
    over = partial(reduction_over, **options)
    first, second = dtype[0], BF16 if BF16 in dtype else dtype[0]
    both = list(dict.fromkeys((first, second)))
    floats, others = [d for d in dtype if d in FLOATS], [d for d in dtype if d not in FLOATS]
    table = "{shape} dims {dims} {dtype}"
    return (
        *over(Tier.SMOKE, table, shape=(8, 257), dtype=both),
        *over(Tier.SMOKE, table, shape=(40, 65), dims="all", dtype=first),
        *over(Tier.FULL, table, shape=[(), (1,), (1000,), (6, 7, 5)], dims="all", dtype=floats),
        *over(Tier.FULL, table, shape=[(33, 1), (16, 127), (16, 128), (16, 129), (5, 1025), (1, 20001)], dtype=first),
        *over(Tier.FULL, table, shape=(2500, 3), dtype=first),
        *over(Tier.FULL, table, shape=(3, 5, 4, 7), dims=[(-1,), (1,)], dtype=first),
        *over(Tier.FULL, table, shape=(63, 65), dims=(0,), dtype=floats),
        *over(Tier.FULL, table, shape=(6, 31, 5), dims=[(1,), (-3,), *([(0, 2), (1, 2)] if several else [])],
              dtype=first),
        *over(Tier.FULL, f"{table} keepdim", shape=(6, 31, 5), dims=[(1,), "all"], keepdim=True, dtype=both),
        *over(Tier.FULL, table, shape=(0, 5), dims=(1,), dtype=first),
        *over(Tier.FULL, "{shape} {dtype} {layout}", shape=(13, 65), dtype=both,
              layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.EXPANDED, Layout.OFFSET]),
        *over(Tier.FULL, f"{table} {{layout}}", shape=(13, 65), dims=(0,), dtype=first,
              layout=[Layout.TRANSPOSED, Layout.PADDED]),
        *over(Tier.FULL, f"{table} {{layout}}", shape=(2, 3, 4, 5, 6), dims=(0, 2, 4) if several else (2,),
              dtype=second, layout=Layout.IRREGULAR),
        *over(Tier.FULL, table, shape=(17, 200), dtype=others),
        *over(Tier.FULL, "{shape} {dtype} {values}", shape=(11, 300), dtype=floats, values="special"),
        *over(Tier.FULL, "{shape} dims {dims} {dtype} {values}", shape=(40, 12), dims=(0,), dtype=first,
              values="special"),
        *over(Tier.BENCH, table, shape=(4096, 256), dtype=both),
        *over(Tier.BENCH, table, shape=(4096, 256), dims="all", dtype=first),
        *over(Tier.BENCH, table, shape=(200, 40999, 3), dims=(1,), dtype=second),
    )  # fmt: skip


def reduction_values(case: Case, rng: torch.Generator) -> torch.Tensor:
    """The tensor of a case, contiguous; "special" ones have one row or column for each special value."""
    x = drawn(case.shape("shape"), case.dtype, rng)
    if case.word("values") == "special":
        x = special_rows(x, rng, rows=_ROWS, dim=reduced_dims(case)[0])
    return x


def reduction_input(case: Case, rng: torch.Generator) -> torch.Tensor:
    """The tensor of a case in its layout."""
    return laid_out(reduction_values(case, rng), case.word("layout"))


def reduced_dims(case: Case) -> tuple[int, ...]:
    """The dimensions that are reduced."""
    dims = case.params["dims"]
    return dims if isinstance(dims, tuple) else tuple(range(len(case.shape("shape"))))


def reduced_terms(case: Case) -> int:
    """Number of input elements for one element of the output."""
    shape = case.shape("shape")
    return math.prod(shape[dim] for dim in reduced_dims(case))


def reduction_cost(case: Case, *, result: DType, operations: int = 1) -> Cost:
    """`operations` per element of the input; the output has the dtype `result`."""
    shape = case.shape("shape")
    dims = {dim % len(shape) for dim in reduced_dims(case)}
    outputs = math.prod(size for dim, size in enumerate(shape) if dim not in dims)
    elements = math.prod(shape)
    return Cost(
        flops=operations * elements, bytes_read=elements * case.dtype.bytes, bytes_written=outputs * result.bytes
    )
