"""Distance of rows: y[rows] = (sum over the last dimension of |x1 - x2 + eps|^p)^(1 / p).

Any rank from 1, any strides; both tensors have one shape and dtype.  eps is added to the difference, before its
absolute value.  p is above 0 and may be inf, which gives the largest element.  Sums are carried in float32 or better.
NaN gives NaN and inf gives inf.  float64 is outside of the contract.

Overload: pairwise_distance is the only one.
"""

from __future__ import annotations

import math
from functools import partial

from engine.model import Case, Category, Cost, DType, ProblemDefinition, Tier, Tolerance
from problems.kit import BF16, F32, FLOATS, Arguments, Layout, Special, cases_over, rounded, torch
from problems.kit.pointwise.losses import loss_input, loss_other

_over = partial(cases_over, p=2.0, eps=1e-6, keepdim=False, layout=Layout.CONTIGUOUS, other_layout=Layout.CONTIGUOUS,
                values="usual")  # fmt: skip

CASES = (
    *_over(Tier.SMOKE, "{shape} {dtype}", shape=(16, 65), dtype=[F32, BF16]),
    *_over(Tier.SMOKE, "{shape} p {p} keepdim {dtype}", shape=(9, 33), p=1.0, keepdim=True, dtype=F32),
    *_over(Tier.FULL, "{shape} {dtype}", shape=[(40,), (3, 5, 4, 7), (1, 1), (0, 3), (3, 127), (3, 128), (3, 129),
           (2, 5001), (2500, 3)], dtype=F32),
    *_over(Tier.FULL, "{shape} {dtype}", shape=(2, 5001), dtype=[DType.FLOAT16, BF16]),
    *_over(Tier.FULL, "{shape} p {p} {dtype}", shape=(12, 31), p=[1.0, 2.0, 3.0, math.inf], dtype=FLOATS),
    *_over(Tier.FULL, "{shape} p {p} eps {eps} {dtype}", shape=(12, 31), p=[1.0, 2.0], eps=[0.0, 0.25], dtype=F32),
    *_over(Tier.FULL, "{shape} keepdim {dtype}", shape=(4, 5, 31), keepdim=True, dtype=FLOATS),
    *_over(Tier.FULL, "{shape} {dtype} {layout}", shape=(13, 65), dtype=[F32, BF16],
           layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.EXPANDED, Layout.OFFSET]),
    *_over(Tier.FULL, "{shape} {dtype} x2 {other_layout}", shape=(13, 65), dtype=F32,
           other_layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.PADDED]),
    *_over(Tier.FULL, "{shape} {dtype} both {layout}", shape=(2, 3, 4, 5, 6), dtype=F32, layout=Layout.IRREGULAR,
           other_layout=Layout.IRREGULAR),
    *_over(Tier.FULL, "{shape} p {p} {dtype} {values}", shape=(20, 9), p=[1.0, 2.0, math.inf], dtype=FLOATS,
           values="special"),
    *_over(Tier.BENCH, "{shape} {dtype}", shape=(8192, 1024), dtype=[F32, BF16]),
)  # fmt: skip
_SPECIAL = (Special.NAN, Special.INF, Special.NEGATIVE_INF, Special.NEGATIVE_ZERO)


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """x1, x2: `shape`, the last dimension is that of the vectors; p; eps; keepdim."""
    x, other = loss_input(case, rng, special=_SPECIAL), loss_other(case, rng)
    return x, other, case.number("p"), case.number("eps"), case.claim("keepdim")


def reference(
    x: torch.Tensor, other: torch.Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> torch.Tensor:
    """x1 without its last dimension, or with 1 in its place; computed in float64."""
    gap = (x.double() - other.double() + eps).abs()
    if p == math.inf:
        return gap.amax(-1, keepdim=keepdim).to(x.dtype)
    return gap.pow(p).sum(-1, keepdim=keepdim).pow(1 / p).to(x.dtype)


def eager(
    x: torch.Tensor, other: torch.Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.nn.functional.pairwise_distance(x, other, p, eps, keepdim)


def tolerance(case: Case) -> Tolerance:
    """Difference and answer may be rounded to the dtype; a sum of positive terms over the vector."""
    return rounded(case.dtype, roundings=3, terms=case.shape("shape")[-1])


def cost(case: Case) -> Cost:
    """Five operations per element: difference, sum with eps, absolute value, power, sum."""
    elements = math.prod(case.shape("shape"))
    return Cost(
        flops=5 * elements,
        bytes_read=2 * elements * case.dtype.bytes,
        bytes_written=math.prod(case.shape("shape")[:-1]) * case.dtype.bytes,
    )


PROBLEM = ProblemDefinition(
    name="aten::pairwise_distance",
    entry="pairwise_distance",
    signature=(
        "pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Tensor"
    ),
    summary="Row-wise p-norm distance with eps, keepdim",
    category=Category.DISTANCE,
    second_oracle="PyTorch's pairwise_distance, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
)
