"""Hadamard transform of every row: y[r, i] = sum_j (-1) ** popcount(i & j) * x[r, j] / sqrt(C).

The order is that of Sylvester's construction, and the scale makes the transform its own inverse.  Rows of C = 1, 2, 4,
... 32,768 elements of float16 or bfloat16, of any strides; other lengths are outside of the contract.  `inplace` writes
the answer to x, which is also returned; else x keeps its values and the answer is a new tensor of its shape.  Sums are
carried in float32 or better and rounded once.  NaN makes its row NaN.  Infinities follow IEEE arithmetic: an element is
infinite if all infinities of its row have one sign in its sum, and NaN if not.  Subnormal values may be flushed to
zero.
"""

from __future__ import annotations

import math
from functools import partial

from engine.model import Case, Category, Cost, ProblemDefinition, Tier, Tolerance
from problems.kit import BF16, F16, Arguments, Layout, Special, cases_over, mixed, rounded, special_rows, torch
from problems.kit.inference.arguments import arranged

_over = partial(cases_over, inplace=True, values="mixed", layout=Layout.CONTIGUOUS)
_ROWS = [Special.NAN, Special.INF, Special.NEGATIVE_INF, Special.BOTH_INF, Special.ALL_NEGATIVE_ZERO]

CASES = (
    *_over(Tier.SMOKE, "{shape} {dtype}", shape=(5, 64), dtype=[F16, BF16]),
    *_over(Tier.SMOKE, "{shape} {dtype} new tensor", shape=(3, 32), dtype=F16, inplace=False),
    *_over(Tier.FULL, "{shape} {dtype}", shape=[(0, 32), (1, 1), (3, 2), (5, 4), (33, 16)], dtype=F16),
    *_over(Tier.FULL, "{shape} {dtype}", shape=[(7, 128), (31, 256), (2, 4096)], dtype=[F16, BF16]),
    *_over(Tier.FULL, "{shape} {dtype}", shape=(1, 16384), dtype=F16),
    *_over(Tier.FULL, "{shape} {dtype} new tensor", shape=(9, 512), dtype=[F16, BF16], inplace=False),
    *_over(Tier.FULL, "{shape} {dtype} {layout} inplace {inplace}", shape=(5, 64), dtype=[F16, BF16],
           layout=Layout.IRREGULAR, inplace=[True, False]),
    *_over(Tier.FULL, "{shape} {dtype} {values}", shape=(7, 64), dtype=[F16, BF16], values="special"),
    *_over(Tier.BENCH, "{shape} {dtype}", shape=[(4096, 1024), (5333, 8192)], dtype=[F16, BF16]),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """x: (R, C); "special" rows have one NaN, one infinity or two of either sign, or are -0.0 throughout."""
    rows, cols = case.shape("shape")
    x = mixed((rows, cols), case.dtype, rng, mean=0.5)
    if case.word("values") == "special":
        x = special_rows(x, rng, rows=_ROWS)
    return *arranged(case, x), case.claim("inplace")


def reference(x: torch.Tensor, inplace: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """The answer, and the final x; butterflies in float64."""
    y = _transformed(x.double()).to(x.dtype)
    return y, y if inplace else x


def eager(x: torch.Tensor, inplace: bool) -> torch.Tensor:
    """Butterflies in float32."""
    y = _transformed(x.float()).to(x.dtype)
    return x.copy_(y) if inplace else y


def tolerance(case: Case) -> Tolerance:
    """A sum of C terms, carried in float32 and rounded once."""
    return rounded(case.dtype, terms=case.shape("shape")[1])


def cost(case: Case) -> Cost:
    """One addition per element for each doubling of the length, and the scale."""
    rows, cols = case.shape("shape")
    moved_bytes = rows * cols * case.dtype.bytes
    return Cost(flops=rows * cols * cols.bit_length(), bytes_read=moved_bytes, bytes_written=moved_bytes)


def _transformed(x: torch.Tensor) -> torch.Tensor:
    """(R, C) -> (R, C): sums and differences at distances 1, 2, 4, ..."""
    rows, cols = x.shape
    distance = 1
    while distance < cols:
        pairs = x.reshape(rows, cols // (2 * distance), 2, distance)
        first, second = pairs[:, :, 0], pairs[:, :, 1]
        x = torch.stack((first + second, first - second), dim=2).reshape(rows, cols)
        distance *= 2
    return x / math.sqrt(cols)


PROBLEM = ProblemDefinition(
    name="vllm::hadacore_transform",
    entry="hadacore_transform",
    signature="hadacore_transform(x: Tensor, inplace: bool = True) -> Tensor",
    summary="Hadamard transform of every row",
    category=Category.TRANSFORM,
    second_oracle="loops of Python over NumPy arrays",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    mutates=("x",),
)
