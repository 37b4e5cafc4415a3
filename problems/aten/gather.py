"""Gather: y[i, j, k] = self[i, index[i, j, k], k] for dim = 1, likewise for the others.

Up to four dimensions, any strides of both.  The index is int64, from 0 to the size of the dimension - 1; negative ones
are outside of the contract.  A copy: NaN, infinities and subnormal values are copied unchanged.
"""

from __future__ import annotations

import math
from functools import partial

from engine.model import Case, Category, Cost, Determinism, DType, ProblemDefinition, Tier, Tolerance
from problems.kit import (
    BF16,
    EXACT,
    F16,
    F32,
    FLOATS,
    Arguments,
    Layout,
    cases_over,
    integers,
    laid_out,
    mixed,
    scattered,
    torch,
)

_over = partial(cases_over, layout=Layout.CONTIGUOUS, index_layout=Layout.CONTIGUOUS, values="mixed")

CASES = (
    *_over(Tier.SMOKE, "{shape} dim {dim} {dtype}", shape=(9, 65), index=(9, 33), dim=1, dtype=[F32, BF16]),
    *_over(Tier.SMOKE, "{shape} dim {dim} {dtype}", shape=(6, 7, 8), index=(5, 7, 3), dim=0, dtype=F32),
    *_over(Tier.FULL, "{shape} dim {dim} {dtype}", shape=(1,), index=(1,), dim=0, dtype=F32),
    *_over(Tier.FULL, "{shape}[{index}] dim {dim} {dtype}", shape=(50,), index=[(0,), (127,), (128,), (129,)], dim=0,
           dtype=F32),
    *_over(Tier.FULL, "{shape}[{index}] dim {dim} {dtype}", shape=(16, 1023), index=(16, 1025), dim=-1, dtype=FLOATS),
    *_over(Tier.FULL, "{shape}[{index}] dim {dim} {dtype}", shape=(33, 17), index=(65, 13), dim=0, dtype=[F32, BF16]),
    *_over(Tier.FULL, "{shape}[{index}] dim {dim} {dtype}", shape=(65, 3), index=(4099, 3), dim=0, dtype=F32),
    *_over(Tier.FULL, "{shape}[{index}] dim {dim} {dtype}", shape=(16, 12, 31), index=(16, 12, 31), dim=[0, 1, 2],
           dtype=FLOATS),
    *_over(Tier.FULL, "{shape}[{index}] dim {dim} {dtype}", shape=(5, 4, 7, 6), index=(4, 9, 5, 3), dim=1, dtype=F32),
    *_over(Tier.FULL, "{shape}[{index}] dim {dim} {dtype}", shape=(9, 40), index=(7, 60), dim=1,
           dtype=[DType.FLOAT64, DType.INT64, DType.UINT8]),
    *_over(Tier.FULL, "{shape} dim {dim} {dtype} {layout}", shape=(33, 65), index=(33, 65), dim=[0, 1], dtype=F32,
           layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.EXPANDED, Layout.OFFSET]),
    *_over(Tier.FULL, "{shape} dim {dim} {dtype} index {index_layout}", shape=(33, 65), index=(33, 65), dim=-2,
           dtype=F32, index_layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.PADDED]),
    *_over(Tier.FULL, "{shape} dim {dim} {dtype} {layout}", shape=(5, 7, 9), index=(5, 7, 9), dim=1, dtype=F32,
           layout=[Layout.TRANSPOSED, Layout.PADDED]),
    *_over(Tier.FULL, "{shape} dim {dim} {dtype} index {index_layout}", shape=(5, 7, 9), index=(5, 7, 9), dim=1,
           dtype=F32, index_layout=[Layout.TRANSPOSED, Layout.PADDED]),
    *_over(Tier.FULL, "{shape}[{index}] dim {dim} {dtype} both {layout}", shape=(3, 7, 2, 3), index=(2, 9, 1, 3),
           dim=1, dtype=F16, layout=Layout.IRREGULAR, index_layout=Layout.IRREGULAR),
    *_over(Tier.FULL, "{shape}[{index}] dim {dim} {dtype} {values}", shape=(7, 33), index=(7, 65), dim=1, dtype=FLOATS,
           values="special"),
    *_over(Tier.FULL, "{shape}[{index}] dim {dim} {dtype}", shape=(66001,), index=(300,), dim=0, dtype=BF16),
    *_over(Tier.BENCH, "{shape} dim {dim} {dtype}", shape=(512, 128, 32), index=(512, 128, 32), dim=[0, 2], dtype=F32),
    *_over(Tier.BENCH, "{shape} dim {dim} {dtype}", shape=(1024, 64, 16), index=(1024, 64, 16), dim=1, dtype=BF16),
    *_over(Tier.BENCH, "{shape} dim {dim} {dtype}", shape=(128, 32, 256), index=(128, 32, 256), dim=2, dtype=BF16),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: `shape`, index: int64, no larger than self in any dimension but `dim`.  "special" has NaN and extremes."""
    shape, dim = case.shape("shape"), case.size("dim")
    if case.dtype in FLOATS:
        x = mixed(shape, case.dtype, rng)
        x = scattered(x, rng, each=7) if case.word("values") == "special" else x
    elif case.dtype is DType.UINT8:
        x = integers(shape, case.dtype, rng, low=0, high=256)
    else:
        x = integers(shape, case.dtype, rng, low=-(2**62), high=2**62)
    index = integers(case.shape("index"), DType.INT64, rng, low=0, high=shape[dim])
    return laid_out(x, case.word("layout")), dim, laid_out(index, case.word("index_layout")), False


def reference(x: torch.Tensor, dim: int, index: torch.Tensor, sparse_grad: bool = False) -> torch.Tensor:
    """The shape of index, by plain indexing."""
    dim %= x.dim()
    own = torch.meshgrid(*(torch.arange(size, device=x.device) for size in index.shape), indexing="ij")
    return x[tuple(index if axis == dim else positions for axis, positions in enumerate(own))]


def eager(x: torch.Tensor, dim: int, index: torch.Tensor, sparse_grad: bool = False) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.gather(x, dim, index, sparse_grad=sparse_grad)


def tolerance(case: Case) -> Tolerance:
    """A copy."""
    return EXACT


def cost(case: Case) -> Cost:
    """No arithmetic; each element of self is read at most once."""
    gathered = math.prod(case.shape("index"))
    sources = min(gathered, math.prod(case.shape("shape")))
    return Cost(
        flops=0,
        bytes_read=sources * case.dtype.bytes + gathered * DType.INT64.bytes,
        bytes_written=gathered * case.dtype.bytes,
    )


PROBLEM = ProblemDefinition(
    name="aten::gather",
    entry="gather",
    signature="gather(self: Tensor, dim: int, index: Tensor, sparse_grad: bool = False) -> Tensor",
    summary="Gather along a dim with an int64 index",
    category=Category.INDEXING,
    second_oracle="PyTorch's gather, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    determinism=Determinism.EXACT,
)
