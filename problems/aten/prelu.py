"""Parametric rectifier: y = x where x > 0, and weight * x elsewhere.

Any rank, any strides; both tensors have one dtype.  The weight is a vector of one element, or of one for each channel,
which is dimension 1.  NaN stays NaN, infinities follow the product.  float64 is outside of the contract.

Overload: prelu is the only one.
"""

from __future__ import annotations

import math
from functools import partial

from engine.model import Case, Category, Cost, ProblemDefinition, Tier, Tolerance
from problems.kit import BF16, F16, F32, FLOATS, Arguments, Layout, cases_over, laid_out, normal, rounded, torch
from problems.kit.pointwise.unary import unary_values

_over = partial(cases_over, weights=1, layout=Layout.CONTIGUOUS, weight_layout=Layout.CONTIGUOUS, values="usual")
_NAME = "{shape} {dtype} weights {weights}"

CASES = (
    *_over(Tier.SMOKE, "{shape} {dtype}", shape=(1000,), dtype=[F32, BF16]),
    *_over(Tier.SMOKE, _NAME, shape=(4, 33, 5), weights=33, dtype=F32),
    *_over(Tier.FULL, "{shape} {dtype}", shape=[(), (1,), (127,), (128,), (129,), (1025,)], dtype=F32),
    *_over(Tier.FULL, _NAME, shape=(0, 5), weights=5, dtype=F32),
    *_over(Tier.FULL, _NAME, shape=(4, 8, 16), weights=[1, 8], dtype=FLOATS),
    *_over(Tier.FULL, _NAME, shape=[(31, 65), (2, 65, 3, 4)], weights=65, dtype=[F32, BF16]),
    *_over(Tier.FULL, "{shape} {dtype} weights {weights} {layout}", shape=(33, 65), weights=65, dtype=F32,
           layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.EXPANDED, Layout.OFFSET]),
    *_over(Tier.FULL, "{shape} {dtype} weight {weight_layout}", shape=(5, 65), weights=65, dtype=F32,
           weight_layout=[Layout.STRIDED, Layout.OFFSET]),
    *_over(Tier.FULL, "{shape} {dtype} both {layout}", shape=(2, 3, 4, 5, 6), weights=3, dtype=F16,
           layout=Layout.IRREGULAR, weight_layout=Layout.IRREGULAR),
    *_over(Tier.FULL, "{shape} {dtype} {values}", shape=(7, 33), weights=33, dtype=FLOATS, values="special"),
    *_over(Tier.BENCH, "{shape} {dtype} weights {weights}", shape=(32, 128, 64, 60), weights=128, dtype=[F32, BF16]),
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: `shape`, weight: one number, or one for each channel."""
    weight = normal((case.size("weights"),), case.dtype, rng)
    return unary_values(case, rng), laid_out(weight, case.word("weight_layout"))


def reference(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """The shape of x, computed in float64."""
    wide = x.double()
    by_channel = weight.double().reshape([-1 if d == 1 else 1 for d in range(x.dim())] if x.dim() > 1 else [-1])
    scaled = wide * (by_channel if x.dim() else by_channel.reshape([]))
    return torch.where(wide > 0, wide, scaled).to(x.dtype)


def eager(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.prelu(x, weight)


def tolerance(case: Case) -> Tolerance:
    """One rounding of a product."""
    return rounded(case.dtype)


def cost(case: Case) -> Cost:
    """Two operations per element: a comparison and a product."""
    elements = math.prod(case.shape("shape"))
    return Cost(
        flops=2 * elements,
        bytes_read=(elements + case.size("weights")) * case.dtype.bytes,
        bytes_written=elements * case.dtype.bytes,
    )


PROBLEM = ProblemDefinition(
    name="aten::prelu",
    entry="prelu",
    signature="prelu(self: Tensor, weight: Tensor) -> Tensor",
    summary="x or weight*x for negative x; weight scalar or per channel",
    category=Category.ACTIVATION,
    second_oracle="PyTorch's prelu, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
)
