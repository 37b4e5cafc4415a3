"""Row lookup: y[..., :] = weight[indices[...], :].

Indices of any rank, int32 or int64, from 0 to the number of rows - 1; negative ones are outside of the contract.
padding_idx, scale_grad_by_freq and sparse concern gradients only.  Both tensors may have any strides.  A copy: NaN,
infinities and subnormal values are copied unchanged.  float64 is outside of the contract.
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

_over = partial(
    cases_over, padding_idx=-1, layout=Layout.CONTIGUOUS, index="int64", index_layout=Layout.CONTIGUOUS, values="mixed"
)

CASES = (
    *_over(Tier.SMOKE, "{rows}x{width}[{indices}] {dtype}", rows=11, width=33, indices=(8,), dtype=[F32, BF16]),
    *_over(Tier.SMOKE, "{rows}x{width}[{indices}] {dtype}", rows=64, width=128, indices=(3, 4), dtype=F32),
    *_over(Tier.FULL, "{rows}x{width}[{indices}] {dtype}", rows=1, width=1, indices=(1,), dtype=F32),
    *_over(Tier.FULL, "{rows}x{width}[{indices}] {dtype}", rows=13, width=31, indices=(13,), dtype=FLOATS),
    *_over(Tier.FULL, "{rows}x{width}[{indices}] {dtype}", rows=17, width=[1, 127, 128, 129], indices=(13,), dtype=F32),
    *_over(Tier.FULL, "{rows}x{width}[{indices}] {dtype}", rows=40, width=1025, indices=(3, 7), dtype=FLOATS),
    *_over(Tier.FULL, "{rows}x{width}[{indices}] {dtype}", rows=5, width=4999, indices=(3,), dtype=[F32, BF16]),
    *_over(Tier.FULL, "{rows}x{width}[{indices}] {dtype}", rows=40, width=16, dtype=F32,
           indices=[(0,), (), (2, 3, 5), (2, 3, 2, 5)]),
    *_over(Tier.FULL, "{rows}x{width}[{indices}] {dtype} {index}", rows=40, width=65, indices=(31,), dtype=F32,
           index="int32"),
    *_over(Tier.FULL, "{rows}x{width}[{indices}] {dtype} padding {padding_idx}", rows=8, width=65, indices=(31,),
           dtype=[F32, BF16], padding_idx=[1, 2]),
    *_over(Tier.FULL, "{rows}x{width}[{indices}] {dtype} weight {layout}", rows=40, width=65, indices=(31,),
           dtype=[F32, BF16], layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.OFFSET, Layout.PADDED]),
    *_over(Tier.FULL, "{rows}x{width}[{indices}] {dtype} indices {index_layout}", rows=40, width=65, indices=(5, 7),
           dtype=F32, index_layout=[Layout.TRANSPOSED, Layout.STRIDED]),
    *_over(Tier.FULL, "{rows}x{width}[{indices}] {dtype} {index} both {layout}", rows=7, width=33,
           indices=(2, 1, 3, 1, 2), dtype=F16, index="int32", layout=Layout.IRREGULAR, index_layout=Layout.IRREGULAR),
    *_over(Tier.FULL, "{rows}x{width}[{indices}] {dtype} {values}", rows=7, width=65, indices=(11,), dtype=FLOATS,
           values="special"),
    *_over(Tier.FULL, "{rows}x{width}[{indices}] {dtype}", rows=1, width=66001, indices=(1,), dtype=BF16),
    *_over(Tier.BENCH, "{rows}x{width}[{indices}] {dtype}", rows=4096, width=[128, 4096], indices=(4, 8),
           dtype=[F32, BF16]),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """weight: (rows, width), indices: any shape, with repetitions.  "special" ones have NaN and extremes."""
    weight = mixed((case.size("rows"), case.size("width")), case.dtype, rng)
    if case.word("values") == "special":
        weight = scattered(weight, rng, each=case.size("rows"))
    indices = integers(case.shape("indices"), DType(case.word("index")), rng, low=0, high=case.size("rows"))
    indices = laid_out(indices, case.word("index_layout"))
    return laid_out(weight, case.word("layout")), indices, case.size("padding_idx"), False, False


def reference(
    weight: torch.Tensor,
    indices: torch.Tensor,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> torch.Tensor:
    """(rows, width), (...) -> (..., width); the other arguments concern gradients only."""
    return weight[indices.long()]


def eager(
    weight: torch.Tensor,
    indices: torch.Tensor,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.embedding(weight, indices, padding_idx, scale_grad_by_freq, sparse)


def tolerance(case: Case) -> Tolerance:
    """A copy."""
    return EXACT


def cost(case: Case) -> Cost:
    """No arithmetic; each row is read at most once."""
    lookups = math.prod(case.shape("indices"))
    row_bytes = case.size("width") * case.dtype.bytes
    return Cost(
        flops=0,
        bytes_read=min(lookups, case.size("rows")) * row_bytes + lookups * DType(case.word("index")).bytes,
        bytes_written=lookups * row_bytes,
    )


PROBLEM = ProblemDefinition(
    name="aten::embedding",
    entry="embedding",
    signature=(
        "embedding(weight: Tensor, indices: Tensor, padding_idx: int = -1, scale_grad_by_freq: bool = False, "
        "sparse: bool = False) -> Tensor"
    ),
    summary="Row lookup in a weight table",
    category=Category.INDEXING,
    second_oracle="PyTorch's embedding, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    determinism=Determinism.EXACT,
)
