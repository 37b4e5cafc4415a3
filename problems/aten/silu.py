"""Sigmoid-weighted unit: y = x / (1 + exp(-x)).

Any rank, any strides.  NaN stays NaN, inf stays inf, and -inf gives NaN, by the formula; the largest finite values stay
finite.  Subnormal values may be flushed to zero.  float64 is outside of the contract.
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
    cases_over,
    laid_out,
    mixed,
    rounded,
    scattered,
    torch,
)

_over = partial(cases_over, layout=Layout.CONTIGUOUS, octaves=2, values="mixed")

CASES = (
    *_over(Tier.SMOKE, "{shape} {dtype}", shape=(1000,), dtype=[F32, BF16]),
    *_over(Tier.SMOKE, "{shape} {dtype} {layout}", shape=(9, 65), dtype=F32, layout=Layout.TRANSPOSED),
    *_over(Tier.FULL, "{shape} {dtype}", shape=[(1,), (0,), (127,), (128,), (129,), (1023,), (1025,)], dtype=F32),
    *_over(Tier.FULL, "{shape} {dtype}", shape=[(4095,), (4097,)], dtype=[F16, BF16]),
    *_over(Tier.FULL, "{shape} {dtype}", shape=[(16, 7, 57), (4, 5, 32, 15)], dtype=FLOATS),
    *_over(Tier.FULL, "{shape} {dtype} up to 2^{octaves}", shape=(3000,), dtype=FLOATS, octaves=7),
    *_over(
        Tier.FULL,
        "{shape} {dtype} {layout}",
        shape=(33, 65),
        dtype=[F32, BF16],
        layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.EXPANDED, Layout.OFFSET],
    ),
    *_over(
        Tier.FULL, "{shape} {dtype} {layout}", shape=(5, 7, 9), dtype=F32, layout=[Layout.TRANSPOSED, Layout.PADDED]
    ),
    *_over(Tier.FULL, "{shape} {dtype} {layout}", shape=(700,), dtype=F32, layout=Layout.STRIDED),
    *_over(Tier.FULL, "{shape} {dtype} {layout}", shape=(2, 3, 4, 5, 6), dtype=BF16, layout=Layout.IRREGULAR),
    *_over(Tier.FULL, "{shape} {dtype} {values}", shape=(7, 33), dtype=FLOATS, values="special"),
    *_over(Tier.BENCH, "{shape} {dtype}", shape=[(1024, 1024), (16, 128, 64, 60)], dtype=[F32, BF16]),
)


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """x: any shape; where exp(-x) overflows, y is zero in float32.  "special" has NaN, infinities and extremes."""
    x = mixed(case.shape("shape"), case.dtype, rng, octaves=case.size("octaves"))
    if case.word("values") == "special":
        x = scattered(x, rng)
    return (laid_out(x, case.word("layout")),)


def reference(x: torch.Tensor) -> torch.Tensor:
    """The shape of x, computed in float64."""
    return torch.nn.functional.silu(x.double()).to(x.dtype)


def eager(x: torch.Tensor) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.nn.functional.silu(x)


def tolerance(case: Case) -> Tolerance:
    """One rounding; results near zero, of large negative x, have an error relative to a typical result."""
    return rounded(case.dtype)


def cost(case: Case) -> Cost:
    """Four operations per element: negation, exponential, sum, quotient."""
    elements = math.prod(case.shape("shape"))
    return Cost(flops=4 * elements, bytes_read=elements * case.dtype.bytes, bytes_written=elements * case.dtype.bytes)


PROBLEM = ProblemDefinition(
    name="aten::silu",
    entry="silu",
    signature="silu(self: Tensor) -> Tensor",
    summary="x*sigmoid(x)",
    category=Category.ACTIVATION,
    second_oracle="mpmath with 40 digits",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
)
