"""Inclusive prefix sum: y[i] = x[0] + x[1] + ... + x[i] along one dimension.

Any rank, any strides, a dimension of any length.  Integers give int64, floats their own dtype unless `dtype` is given.
After a NaN a row is NaN; after an infinity it is that infinity, and NaN once both inf and -inf have occurred. Earlier
elements are not affected.  Sums are carried in float32 or better.  Subnormal values may be flushed to zero.  float64 is
outside of the contract.
"""

from __future__ import annotations

import math
from functools import partial

from engine.model import Case, Category, Cost, DType, ProblemDefinition, Tier, Tolerance
from problems.kit import (
    BF16,
    F16,
    F32,
    FLOATS,
    Arguments,
    Layout,
    Special,
    cases_over,
    integers,
    laid_out,
    mixed,
    result_dtype,
    rounded,
    special_rows,
    torch,
    torch_dtype,
)

_over = partial(cases_over, dim=-1, layout=Layout.CONTIGUOUS, result="same", values="mixed")

# Sums fit into int64, and some exceed int32 and the exact integers of float64.
_BOUNDS = {DType.INT16: 2**15, DType.INT32: 2**30, DType.INT64: 2**55}

_SPECIAL = [
    Special.NAN,
    Special.INF,
    Special.BOTH_INF,
    Special.NEGATIVE_INF,
    Special.OVERFLOW,
    Special.ALL_NEGATIVE_INF,
    Special.LARGE,
]

CASES = (
    *_over(Tier.SMOKE, "{shape} {dtype}", shape=(5, 257), dtype=[F32, BF16]),
    *_over(Tier.SMOKE, "{shape} dim {dim} {dtype}", shape=(4, 33, 5), dim=1, dtype=F32),
    *_over(Tier.FULL, "{shape} {dtype}", shape=[(1,), (31, 1), (0, 5), (5, 0), (1000,), (3, 5, 4, 7)], dtype=F32),
    *_over(Tier.FULL, "{shape} {dtype}", shape=[(16, 127), (16, 128), (16, 129), (5, 1023)], dtype=F32),
    *_over(Tier.FULL, "{shape} {dtype}", shape=[(4, 1024), (4, 1025)], dtype=FLOATS),
    *_over(Tier.FULL, "{shape} {dtype}", shape=(3, 2500), dtype=F32),
    *_over(Tier.FULL, "{shape} {dtype}", shape=(2, 8191), dtype=F32),
    *_over(Tier.FULL, "{shape} dim {dim} {dtype}", shape=(31, 17), dim=0, dtype=[F32, BF16]),
    *_over(Tier.FULL, "{shape} dim {dim} {dtype}", shape=(3, 13, 4), dim=[0, 1, 2, -2], dtype=F32),
    *_over(Tier.FULL, "{shape} dim {dim} {dtype} {layout}", shape=(13, 65), dim=0, dtype=F32,
           layout=[Layout.TRANSPOSED, Layout.PADDED]),
    *_over(Tier.FULL, "{shape} {dtype} {layout}", shape=(13, 65), dtype=[F32, BF16],
           layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.EXPANDED, Layout.OFFSET]),
    *_over(Tier.FULL, "{shape} {dtype} to {result}", shape=(16, 200), dtype=[F16, BF16], result="float32"),
    *_over(Tier.FULL, "{shape} {dtype}", shape=(17, 200), result="int64",
           dtype=[DType.INT16, DType.INT32, DType.INT64]),
    *_over(Tier.FULL, "{shape} {dtype}", shape=(3, 2500), result="int64", dtype=DType.INT32),
    *_over(Tier.FULL, "{shape} dim {dim} {dtype} {values} {layout}", shape=(2, 1, 20, 2, 2), dim=2, dtype=BF16,
           values="special", layout=Layout.IRREGULAR),
    *_over(Tier.FULL, "{shape} {dtype} {values}", shape=(8, 300), dtype=[F32, F16], values="special"),
    *_over(Tier.FULL, "{shape} {dtype} to {result} {values}", shape=[(2, 200), (2, 5001)], dtype=[F16, BF16],
           result="float32", values="detour"),
    *_over(Tier.FULL, "{shape} {dtype}", shape=(1, 66001), dtype=F32),
    *_over(Tier.BENCH, "{shape} {dtype}", shape=(4096, 256), dtype=[F32, BF16]),
    *_over(Tier.BENCH, "{shape} {dtype}", shape=(2637,), dtype=F32),
    *_over(Tier.BENCH, "{shape} dim {dim} {dtype}", shape=[(16, 1025, 255), (200, 40999, 3)], dim=1, dtype=BF16),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """x: any shape.  Integers are summed to int64 by default; floats to another dtype if given.

    "special" rows hold NaN and infinities, or overflow. In a "detour" partial sums overflow float16, and the sum does
    not.
    """
    shape = case.shape("shape")
    if case.dtype in FLOATS:
        x = mixed(shape, case.dtype, rng)
        rows = {"mixed": [], "special": _SPECIAL, "detour": [Special.DETOUR] * 2}[case.word("values")]
        x = special_rows(x, rng, rows=rows, dim=case.size("dim")) if rows else x
    else:
        x = integers(shape, case.dtype, rng, low=-_BOUNDS[case.dtype], high=_BOUNDS[case.dtype])
    dtype = torch_dtype(result_dtype(case)) if case.dtype in FLOATS and case.word("result") != "same" else None
    return laid_out(x, case.word("layout")), case.size("dim"), dtype


def reference(x: torch.Tensor, dim: int, dtype: torch.dtype | None = None) -> torch.Tensor:
    """The shape of x; float64, integers exactly."""
    if not x.is_floating_point():
        return torch.cumsum(x, dim)
    return torch.cumsum(x.double(), dim).to(dtype or x.dtype)


def eager(x: torch.Tensor, dim: int, dtype: torch.dtype | None = None) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.cumsum(x, dim, dtype=dtype)


def tolerance(case: Case) -> Tolerance:
    """One rounding, and sums over the dimension.

    Sums are carried in float32, in any order: sequentially or as the tree of a parallel scan, each of n terms adds an
    error of less than a quarter of a unit of float32.  Sums carried in a half type err by several units in the last
    place even as a tree of depth log2(n), and are not accepted.  PyTorch's own kernel on a GPU carries them in the
    dtype of the answer (aten/src/ATen/native/cuda/CumsumKernel.cu adds with `std::plus<scalar_t>`), and exceeds the
    tolerance in some half-precision cases.
    """
    return rounded(result_dtype(case), terms=case.shape("shape")[case.size("dim")])


def cost(case: Case) -> Cost:
    """One addition per element."""
    elements = math.prod(case.shape("shape"))
    return Cost(
        flops=elements, bytes_read=elements * case.dtype.bytes, bytes_written=elements * result_dtype(case).bytes
    )


PROBLEM = ProblemDefinition(
    name="aten::cumsum",
    entry="cumsum",
    signature="cumsum(self: Tensor, dim: int, dtype: DType | None = None) -> Tensor",
    summary="Inclusive prefix sum along a dim",
    category=Category.SCAN,
    second_oracle="numpy.cumsum, in double precision",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
)
