"""Renormalisation: y[i] = x[i] * maxnorm / (n + 1e-7) where the p-norm n of the slice x[i] along dim is above maxnorm.

Rank 2 to 4, any strides.  p is above 0, maxnorm not negative; for p = inf n is the largest absolute value.  Slices
whose norm is not above maxnorm stay as they are, to the bit; so does a slice with NaN, whose norm is not above
anything.  Norms are carried in float32 or better.  An infinity in a slice is outside of the contract.  float64 is
outside of the contract.

Overloads: renorm (tested) and renorm.out.
"""

from __future__ import annotations

import math
from functools import partial

from engine.model import Case, Category, Cost, ProblemDefinition, Tier, Tolerance
from problems.kit import (
    BF16,
    F32,
    FLOATS,
    Arguments,
    Layout,
    Special,
    cases_over,
    laid_out,
    mixed,
    rounded,
    special_rows,
    torch,
)

_over = partial(cases_over, p=2.0, dim=0, maxnorm=1.0, layout=Layout.CONTIGUOUS, values="mixed")

CASES = (
    *_over(Tier.SMOKE, "{shape} {dtype}", shape=(16, 65), dtype=[F32, BF16]),
    *_over(Tier.SMOKE, "{shape} dim {dim} p {p} {dtype}", shape=(9, 33), dim=1, p=1.0, dtype=F32),
    *_over(Tier.FULL, "{shape} {dtype}", shape=[(1, 1), (0, 3), (3, 127), (3, 128), (3, 129), (2, 5001)], dtype=F32),
    *_over(Tier.FULL, "{shape} dim {dim} p {p} maxnorm {maxnorm} {dtype}", shape=(12, 31), dim=[0, -1],
           p=[1.0, 2.0, 3.0], maxnorm=[0.5, 20.0], dtype=FLOATS),
    *_over(Tier.FULL, "{shape} dim {dim} p {p} {dtype}", shape=(12, 31), p=[0.5, math.inf], dtype=F32),
    *_over(Tier.FULL, "{shape} dim {dim} {dtype}", shape=(5, 6, 7), dim=[0, 1, 2], dtype=F32, maxnorm=5.0),
    *_over(Tier.FULL, "{shape} maxnorm {maxnorm} {dtype}", shape=(12, 31), maxnorm=0.0, dtype=F32),
    *_over(Tier.FULL, "{shape} {dtype} {layout}", shape=(13, 65), dtype=[F32, BF16], maxnorm=9.0,
           layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.EXPANDED, Layout.OFFSET]),
    *_over(Tier.FULL, "{shape} dim {dim} {dtype} {layout}", shape=(3, 4, 5, 6), dim=1, dtype=F32, maxnorm=9.0,
           layout=Layout.IRREGULAR),
    *_over(Tier.FULL, "{shape} {dtype} {values}", shape=(6, 50), dtype=FLOATS, values="special"),
    *_over(Tier.FULL, "{shape} p {p} {dtype} {values}", shape=(6, 50), dtype=F32, p=math.inf, values="special"),
    *_over(Tier.BENCH, "{shape} {dtype}", shape=(4096, 1024), dtype=[F32, BF16]),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: some rows above maxnorm, one with NaN in "special"; p; dim; maxnorm."""
    x = mixed(case.shape("shape"), case.dtype, rng)
    if case.word("values") == "special":
        x = special_rows(x, rng, rows=(Special.NAN, Special.ALL_NEGATIVE_ZERO, Special.SUBNORMAL))
    return laid_out(x, case.word("layout")), case.number("p"), case.size("dim"), case.number("maxnorm")


def reference(x: torch.Tensor, p: float, dim: int, maxnorm: float) -> torch.Tensor:
    """The shape of x, computed in float64."""
    wide = x.double()
    others = [d for d in range(x.dim()) if d != dim % x.dim()]
    norms = wide.abs().pow(p).sum(others, keepdim=True).pow(1 / p) if math.isfinite(p) else _largest(wide.abs(), others)
    return torch.where(norms > maxnorm, wide * (maxnorm / (norms + _EPSILON)), wide).to(x.dtype)


def _largest(x: torch.Tensor, dims: list[int]) -> torch.Tensor:
    """The maximum over `dims`, which stay as 1; 0 where they have no element."""
    return x.amax(dims, keepdim=True) if x.numel() else x.sum(dims, keepdim=True)


def eager(x: torch.Tensor, p: float, dim: int, maxnorm: float) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.renorm(x, p, dim, maxnorm)


def tolerance(case: Case) -> Tolerance:
    """A factor and a product that may each be rounded, and a sum over the slice."""
    shape = case.shape("shape")
    return rounded(case.dtype, roundings=3, terms=math.prod(shape) // max(shape[case.size("dim")], 1))


def cost(case: Case) -> Cost:
    """Four operations per element: absolute value, power, sum, product."""
    elements = math.prod(case.shape("shape"))
    return Cost(flops=4 * elements, bytes_read=elements * case.dtype.bytes, bytes_written=elements * case.dtype.bytes)


_EPSILON = 1e-7  # from PyTorch's own definition


PROBLEM = ProblemDefinition(
    name="aten::renorm",
    entry="renorm",
    signature="renorm(self: Tensor, p: float, dim: int, maxnorm: float) -> Tensor",
    summary="Scale slices along dim so that their p-norm <= maxnorm",
    category=Category.NORMALISATION,
    second_oracle="PyTorch's renorm, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    cannot_reject={
        "infinities_clamped": "infinities are outside of the contract",
    },
)
