"""Softmax: y = exp(x - max(x)) / sum(exp(x - max(x))) along one dimension.

Any rank, any strides, a dimension of any length.  A row with NaN or +inf in it, or of -inf only, is NaN throughout; one
row may contain the largest finite values of both signs.  Subnormal values may be flushed to zero.  float64 is outside
of the contract.
"""

from __future__ import annotations

import math
from functools import partial

from engine.model import Case, Category, Cost, ProblemDefinition, Tier, Tolerance
from problems.kit import (
    BF16,
    F16,
    F32,
    FLOATS,
    Arguments,
    Layout,
    Special,
    cases_over,
    laid_out,
    mixed,
    normal,
    result_dtype,
    rounded,
    special_rows,
    torch,
    torch_dtype,
)

_over = partial(cases_over, dim=-1, layout=Layout.CONTIGUOUS, values="mixed", result="same")

CASES = (
    *_over(Tier.SMOKE, "{shape} {dtype}", shape=[(4, 33), (7, 781)], dtype=F32),
    *_over(Tier.SMOKE, "{shape} {dtype}", shape=(5, 128), dtype=BF16),
    *_over(Tier.FULL, "{shape} {dtype}", shape=[(1, 1), (16, 2), (0, 5), (5, 0), (1000,), (3, 5, 4, 7)], dtype=F32),
    *_over(Tier.FULL, "{shape} {dtype}", shape=[(5, 127), (5, 129), (3, 1023), (3, 1024), (3, 1025)], dtype=F32),
    *_over(Tier.FULL, "{shape} {dtype}", shape=[(2, 4095), (2, 4097)], dtype=[F16, BF16]),
    *_over(Tier.FULL, "{shape} dim {dim} {dtype} {layout}", shape=(17, 40), dim=0, dtype=[F32, BF16],
           layout=Layout.TRANSPOSED),
    *_over(Tier.FULL, "{shape} dim {dim} {dtype}", shape=(3, 13, 4), dim=[0, -2, 2], dtype=F32),
    *_over(Tier.FULL, "{shape} {dtype} {layout}", shape=(13, 65), dtype=[F32, BF16],
           layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.EXPANDED, Layout.OFFSET]),
    *_over(Tier.FULL, "{shape} {dtype} {values}", shape=(9, 300), dtype=FLOATS, values=["masked tail", "large"]),
    *_over(Tier.FULL, "{shape} {dtype} {values}", shape=[(9, 300), (2, 9000)], dtype=F32, values="huge"),
    *_over(Tier.FULL, "{shape} {dtype} {values}", shape=[(3, 1025), (2, 8193)], dtype=F32, values="peak"),
    *_over(Tier.FULL, "{shape} {dtype} {values}", shape=(3, 2500), dtype=F32, values="large"),
    *_over(Tier.FULL, "{shape} {dtype} {values}", shape=(2, 9000), dtype=F32,
           values=["rising", "falling", "masked head"]),
    *_over(Tier.FULL, "{shape} {dtype}", shape=(1, 66001), dtype=BF16),
    *_over(Tier.FULL, "{shape} {dtype} to {result}", shape=(16, 200), dtype=[F16, BF16], result="float32"),
    *_over(Tier.FULL, "{shape} dim {dim} {dtype} {values} {layout}", shape=(2, 1, 20, 2, 2), dim=2, dtype=BF16,
           values="special", layout=Layout.IRREGULAR),
    *_over(Tier.FULL, "{shape} {dtype} {values}", shape=(8, 1100), dtype=[F32, F16], values="special"),
    *_over(Tier.BENCH, "{shape} {dtype}", shape=[(4096, 256), (4096, 781), (1, 131072)], dtype=F32),
    *_over(Tier.BENCH, "{shape} {dtype}", shape=(4096, 256), dtype=BF16),
    *_over(Tier.BENCH, "{shape} dim {dim} {dtype}", shape=(200, 2560, 3), dim=1, dtype=F32),
)  # fmt: skip

_CENTRES = {"large": 1e3, "huge": 1e5}
_SLOPES = {"rising": 100.0, "falling": -100.0}
_PEAK = 200.0
_SPECIAL = [
    Special.NAN,
    Special.ALL_NEGATIVE_INF,
    Special.INF,
    Special.BOTH_INF,
    Special.NEGATIVE_INF,
    Special.LARGE,
    Special.ALL_NEGATIVE_ZERO,
]


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """x: any shape, a mix of flat and peaked rows; "masked" ones begin or end with -inf.

    "large" rows alternate between about -1000 and 1000, "huge" ones are a hundred times that.  "rising" and "falling"
    rows span a range in which exp overflows, and so does the single step of a "peak", which is alternately in the last
    and the first column, so that one part of a row determines its maximum. "special" rows hold NaN, infinities, the
    largest finite values, or nothing but -inf.
    """
    shape, values = case.shape("shape"), case.word("values")
    if values in _CENTRES:
        signs = torch.arange(math.prod(shape[:-1])).view(*shape[:-1], 1) % 2 * 2 - 1
        x = (torch.randn(shape, generator=rng) * 4 + _CENTRES[values] * signs).to(torch_dtype(case.dtype))
    elif values in _SLOPES:
        x = normal(shape, case.dtype, rng) + torch.linspace(-_SLOPES[values], _SLOPES[values], shape[-1])
    elif values == "peak":
        x = normal(shape, case.dtype, rng)
        x[::2, -1] += _PEAK
        x[1::2, 0] += _PEAK
    else:
        x = mixed(shape, case.dtype, rng)
    if values == "masked tail":
        kept = torch.randint(1, shape[-1], (*shape[:-1], 1), generator=rng)
        x = x.masked_fill(torch.arange(shape[-1]) >= kept, -math.inf)
    if values == "masked head":
        x = x.masked_fill(torch.arange(shape[-1]) < shape[-1] * 2 // 3, -math.inf)
    if values == "special":
        x = special_rows(x, rng, rows=_SPECIAL, dim=case.size("dim"))
    dtype = None if case.word("result") == "same" else torch_dtype(result_dtype(case))
    return laid_out(x, case.word("layout")), case.size("dim"), dtype


def reference(x: torch.Tensor, dim: int, dtype: torch.dtype | None = None) -> torch.Tensor:
    """The shape of x, computed in float64."""
    return torch.softmax(x.double(), dim).to(dtype or x.dtype)


def eager(x: torch.Tensor, dim: int, dtype: torch.dtype | None = None) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.softmax(x, dim, dtype=dtype)


def tolerance(case: Case) -> Tolerance:
    """One rounding, and a sum over the dimension."""
    return rounded(result_dtype(case), terms=case.shape("shape")[case.size("dim")])


def cost(case: Case) -> Cost:
    """Five operations per element: maximum, difference, exponential, sum, quotient."""
    elements = math.prod(case.shape("shape"))
    return Cost(
        flops=5 * elements, bytes_read=elements * case.dtype.bytes, bytes_written=elements * result_dtype(case).bytes
    )


PROBLEM = ProblemDefinition(
    name="aten::softmax",
    entry="softmax",
    signature="softmax(self: Tensor, dim: int, dtype: DType | None = None) -> Tensor",
    summary="Softmax along a dim, optional dtype",
    category=Category.NORMALISATION,
    second_oracle="scipy.special.softmax, in double precision",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
)
