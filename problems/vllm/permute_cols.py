"""Permutation of the columns of a matrix: out[i, j] = a[i, perm[j]].

Elements of 16 bits in any strides; perm is int32, of any stride, and holds each column once.  A copy: NaN, infinities,
-0.0 and subnormal values are copied unchanged.  The result is a new contiguous matrix.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, Cost, Determinism, ProblemDefinition, Tier
from problems.kit import BF16, F16, Arguments, Layout, cases_over, mixed, scattered, torch
from problems.kit.inference.arguments import arranged, exact

_over = partial(cases_over, order="random", values="mixed", layout=Layout.CONTIGUOUS)

CASES = (
    *_over(Tier.SMOKE, "{shape} {dtype}", shape=(5, 72), dtype=[F16, BF16]),
    *_over(Tier.SMOKE, "{shape} {dtype} {order}", shape=(3, 33), dtype=F16, order="reversed"),
    *_over(Tier.FULL, "{shape} {dtype}", shape=[(0, 8), (1, 1), (1, 32), (7, 127), (7, 128), (7, 129)], dtype=F16),
    *_over(Tier.FULL, "{shape} {dtype} {order}", shape=(71, 504), dtype=[F16, BF16], order=["random", "reversed"]),
    *_over(Tier.FULL, "{shape} {dtype} {order}", shape=(3, 65), dtype=F16, order="unchanged"),
    *_over(Tier.FULL, "{shape} {dtype}", shape=(2, 8192), dtype=BF16),
    *_over(Tier.FULL, "{shape} {dtype} {layout}", shape=(9, 65), dtype=[F16, BF16], layout=Layout.IRREGULAR),
    *_over(Tier.FULL, "{shape} {dtype} {values}", shape=(9, 65), dtype=[F16, BF16], values="special"),
    *_over(Tier.BENCH, "{shape} {dtype}", shape=[(1024, 4096), (5333, 8192)], dtype=[F16, BF16]),
)


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """a: (R, C), perm: (C,); "special" matrices hold NaN, infinities and extremes."""
    shape = case.shape("shape")
    a = mixed((shape[0], shape[1]), case.dtype, rng)
    if case.word("values") == "special":
        a = scattered(a, rng)
    orders = {
        "random": torch.randperm(shape[1], generator=rng),
        "reversed": torch.arange(shape[1]).flip(0),
        "unchanged": torch.arange(shape[1]),
    }
    return arranged(case, a, orders[case.word("order")].int())


def reference(a: torch.Tensor, perm: torch.Tensor) -> torch.Tensor:
    """(R, C), (C,) -> (R, C), column by column."""
    out = torch.empty_like(a, memory_format=torch.contiguous_format)
    for column, source in enumerate(perm.tolist()):
        out[:, column] = a[:, source]
    return out


def eager(a: torch.Tensor, perm: torch.Tensor) -> torch.Tensor:
    """Indexing of the columns."""
    return a[:, perm.long()].contiguous()


def cost(case: Case) -> Cost:
    """No arithmetic."""
    rows, cols = case.shape("shape")
    moved_bytes = rows * cols * case.dtype.bytes
    return Cost(flops=0, bytes_read=moved_bytes + 4 * cols, bytes_written=moved_bytes)


PROBLEM = ProblemDefinition(
    name="vllm::permute_cols",
    entry="permute_cols",
    signature="permute_cols(a: Tensor, perm: Tensor) -> Tensor",
    summary="out[:,j] = a[:,perm[j]]",
    category=Category.PERMUTE,
    second_oracle="loops of Python over NumPy arrays",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=exact,
    cost=cost,
    determinism=Determinism.EXACT,
)
