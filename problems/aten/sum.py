"""Sum: y[rest] = sum over the reduced dimensions of x[rest, reduced].

Any rank, any strides, any number of elements.  NaN and infinities follow IEEE arithmetic: inf plus -inf is NaN.  Sums
are carried in float32 or better, integers in int64.  Subnormal values may be flushed to zero.  float64 is outside of
the contract.
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

_over = partial(cases_over, dims=(-1,), keepdim=False, layout=Layout.CONTIGUOUS, result="same", values="even")
_HEAVY, _MANY = 512, 16  # weight relative to other elements, and heavy elements at each end of a row
_INTEGERS = [DType.INT32, DType.INT64, DType.BOOL]
# Sums fit into int64, and some exceed int32 and the exact integers of float64.
_BOUNDS = {DType.INT32: 2**30, DType.INT64: 2**55}

_SPECIAL = [
    Special.NAN,
    Special.INF,
    Special.BOTH_INF,
    Special.NEGATIVE_INF,
    Special.OVERFLOW,
    Special.ALL_NEGATIVE_INF,
    Special.ALL_NEGATIVE_ZERO,
    Special.LARGE,
]

CASES = (
    *_over(Tier.SMOKE, "{shape} dims {dims} {dtype}", shape=(8, 257), dtype=[F32, BF16]),
    *_over(Tier.SMOKE, "{shape} dims {dims} {dtype}", shape=(40, 65), dims="all", dtype=F32),
    *_over(Tier.FULL, "{shape} dims {dims} {dtype}", shape=(1,), dims="all", dtype=F32),
    *_over(Tier.FULL, "{shape} dims {dims} {dtype}", shape=[(1000,), (20, 32, 15)], dims="all", dtype=FLOATS),
    *_over(Tier.FULL, "{shape} no dims {dtype}", shape=(40, 65), dims=(), dtype=F32),
    *_over(Tier.FULL, "{shape} dims {dims} {dtype}", shape=[(33, 1), (16, 127), (16, 128), (16, 129), (3, 5, 4, 7)],
           dtype=F32),
    *_over(Tier.FULL, "{shape} dims {dims} {dtype}", shape=[(5, 1023), (5, 1025)], dtype=FLOATS),
    *_over(Tier.FULL, "{shape} dims {dims} {dtype}", shape=(1, 70001), dtype=F32),
    *_over(Tier.FULL, "{shape} dims {dims} {dtype} {values}", shape=(2, 40001), dtype=F32, values="heavy ends"),
    *_over(Tier.FULL, "{shape} dims {dims} {dtype}", shape=(2500, 3), dtype=F32),
    *_over(Tier.FULL, "{shape} dims {dims} {dtype}", shape=(63, 65), dims=(0,), dtype=FLOATS),
    *_over(Tier.FULL, "{shape} dims {dims} {dtype}", shape=(6, 31, 5), dims=[(1,), (-2,), (0, 2), (1, 2)], dtype=F32),
    *_over(Tier.FULL, "{shape} dims {dims} {dtype} {layout}", shape=(13, 65), dims=(0,), dtype=F32,
           layout=[Layout.TRANSPOSED, Layout.PADDED]),
    *_over(Tier.FULL, "{shape} dims {dims} keepdim {dtype}", shape=(6, 31, 5), dims=[(1,), (0, -1)], keepdim=True,
           dtype=[F32, BF16]),
    *_over(Tier.FULL, "{shape} dims all keepdim {dtype}", shape=(20, 31), dims=(), keepdim=True, dtype=F32),
    *_over(Tier.FULL, "{shape} dims {dims} {dtype}", shape=[(0, 5), (5, 0)], dims=(0,), dtype=F32),
    *_over(Tier.FULL, "{shape} {dtype} {layout}", shape=(13, 65), dtype=[F32, BF16],
           layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.EXPANDED, Layout.OFFSET]),
    *_over(Tier.FULL, "{shape} {dtype} to {result}", shape=(17, 200), dtype=[F16, BF16], result="float32"),
    *_over(Tier.FULL, "{shape} {dtype}", shape=(17, 200), dtype=_INTEGERS, result="int64"),
    *_over(Tier.FULL, "{shape} dims {dims} {dtype} {layout}", shape=(2, 3, 4, 5, 6), dims=(0, 2, 4), dtype=F32,
           layout=Layout.IRREGULAR),
    *_over(Tier.FULL, "{shape} dims {dims} {dtype} {values} {layout}", shape=(2, 1, 20, 2, 2), dims=(2,), dtype=BF16,
           values="special", layout=Layout.IRREGULAR),
    *_over(Tier.FULL, "{shape} {dtype} {values}", shape=(8, 300), dtype=[F32, F16], values="special"),
    *_over(Tier.FULL, "{shape} {dtype} {values}", shape=[(2, 200), (2, 20_001)], dtype=[F16, BF16], values="detour"),
    *_over(Tier.BENCH, "{shape} dims {dims} {dtype}", shape=(4096, 256), dtype=[F32, BF16]),
    *_over(Tier.BENCH, "{shape} dims {dims} {dtype}", shape=(4096, 256), dims="all", dtype=F32),
    *_over(Tier.BENCH, "{shape} dims {dims} {dtype}", shape=(200, 40999, 3), dims=(1,), dtype=BF16),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """x: any shape, mostly positive, so that a single sum does not cancel to about zero.

    `dim` is None for "all" and an empty list, which means the same, for "no dims".  Integers are summed to int64 by
    default; floats to another dtype only if `dtype` is given. "heavy ends" give large weight to the first and last
    elements of a row, which a wrong split of the row omits: with equal weights their loss would be within the
    tolerance. "special" rows hold NaN and infinities, or overflow.  In a "detour" partial sums overflow float16, and
    the sum does not.
    """
    shape, dims = case.shape("shape"), case.params["dims"]
    if case.dtype is DType.BOOL:
        x = integers(shape, case.dtype, rng, low=0, high=2)
    elif case.dtype in _INTEGERS:
        x = integers(shape, case.dtype, rng, low=-_BOUNDS[case.dtype], high=_BOUNDS[case.dtype])
    else:
        x = mixed(shape, case.dtype, rng, mean=1.0)
        if case.word("values") == "heavy ends":
            for end in (x[..., :_MANY], x[..., -_MANY:]):
                end.copy_(_HEAVY * end.abs())
        if case.word("values") == "special":
            x = special_rows(x, rng, rows=_SPECIAL, dim=_reduced(case)[0])
        if case.word("values") == "detour":
            x = special_rows(x, rng, rows=[Special.DETOUR] * len(x))
    dtype = torch_dtype(result_dtype(case)) if case.dtype in FLOATS and case.word("result") != "same" else None
    return (
        laid_out(x, case.word("layout")),
        list(dims) if isinstance(dims, tuple) else None,
        case.claim("keepdim"),
        dtype,
    )


def reference(
    x: torch.Tensor, dim: list[int] | None = None, keepdim: bool = False, dtype: torch.dtype | None = None
) -> torch.Tensor:
    """The shape of x without its reduced dimensions, or with 1 in their place; float64, integers exactly."""
    if not x.is_floating_point():
        return torch.sum(x, dim, keepdim)
    return torch.sum(x.double(), dim, keepdim).to(dtype or x.dtype)


def eager(
    x: torch.Tensor, dim: list[int] | None = None, keepdim: bool = False, dtype: torch.dtype | None = None
) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.sum(x, dim, keepdim, dtype=dtype)


def tolerance(case: Case) -> Tolerance:
    """One rounding, and sums over everything that is reduced."""
    shape = case.shape("shape")
    return rounded(result_dtype(case), terms=math.prod(shape[dim] for dim in _reduced(case)))


def cost(case: Case) -> Cost:
    """One addition per element."""
    shape = case.shape("shape")
    reduced = {dim % len(shape) for dim in _reduced(case)}
    outputs = math.prod(size for dim, size in enumerate(shape) if dim not in reduced)
    return Cost(
        flops=math.prod(shape),
        bytes_read=math.prod(shape) * case.dtype.bytes,
        bytes_written=outputs * result_dtype(case).bytes,
    )


def _reduced(case: Case) -> tuple[int, ...]:
    """The dimensions that are summed over."""
    dims = case.params["dims"]
    return dims if isinstance(dims, tuple) and dims else tuple(range(len(case.shape("shape"))))


PROBLEM = ProblemDefinition(
    name="aten::sum",
    entry="sum",
    signature=(
        "sum(self: Tensor, dim: list[int] | None = None, keepdim: bool = False, dtype: DType | None = None) -> Tensor"
    ),
    summary="Sum over all or given dims, keepdim",
    category=Category.REDUCTION,
    second_oracle="numpy.sum, in double precision",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
)
