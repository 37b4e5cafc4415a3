"""Huber loss: y = z * z / 2 where z = |self - target| < delta, and delta * (z - delta / 2) elsewhere.

Any rank, any strides; all tensors have one shape and dtype.  `reduction` is 0 for none, 1 for the mean, 2 for the sum.
The mean of no elements is NaN and their sum 0.  delta is above 0.  NaN stays NaN, inf gives inf.

Overloads: huber_loss (tested) and huber_loss.out.
"""

from __future__ import annotations

import math

from engine.model import Case, Category, Cost, ProblemDefinition, Tier, Tolerance
from problems.kit import BF16, F16, FLOATS, Arguments, Special, torch
from problems.kit.pointwise.losses import (
    loss_cases,
    loss_cost,
    loss_input,
    loss_other,
    loss_over,
    loss_tolerance,
    reduced,
)

CASES = (
    *loss_cases(dtype=FLOATS, delta=1.0),
    *loss_over(
        Tier.FULL,
        "{shape} {dtype} {values} reduction {reduction}",
        shape=(65_536,),
        dtype=[F16, BF16],
        delta=1.0,
        values="one large",
        reduction=[1, 2],
    ),
    *loss_over(Tier.FULL, "{shape} {dtype} delta {delta}", shape=(700,), delta=[0.25, 2.5], dtype=FLOATS),
)

_LARGE, _UNITS = 1028.0, 8  # a unit of 16 bits is largest relative to numbers just above a power of two
_SPECIAL = (Special.NAN, Special.INF, Special.NEGATIVE_INF, Special.NEGATIVE_ZERO)


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self and target: `shape`; reduction; delta.

    With "one large" the first loss is nearly the whole sum, and the others together are eight units of it in the last
    place: a sum that is rounded to the dtype of self after each block loses them.
    """
    x, target = loss_input(case, rng, special=_SPECIAL), loss_other(case, rng)
    if case.word("values") == "one large":
        small = math.sqrt(2 * _LARGE * _UNITS * case.dtype.epsilon / len(x))
        x, target = (small * math.sqrt(0.5) * torch.randn(x.shape, generator=rng).to(x.dtype) for _ in range(2))
        x[0], target[0] = _LARGE, 0.0
    return x, target, case.size("reduction"), case.number("delta")


def reference(x: torch.Tensor, target: torch.Tensor, reduction: int = 1, delta: float = 1.0) -> torch.Tensor:
    """The shape of self, or a scalar; computed in float64."""
    z = (x.double() - target.double()).abs()
    loss = torch.where(z < delta, z * z / 2, delta * (z - delta / 2))
    return reduced(loss, reduction, x.dtype)


def eager(x: torch.Tensor, target: torch.Tensor, reduction: int = 1, delta: float = 1.0) -> torch.Tensor:
    """PyTorch's operator."""
    answer: torch.Tensor = torch.ops.aten.huber_loss(x, target, reduction, delta)
    return answer


def tolerance(case: Case) -> Tolerance:
    """As for all losses: elements by their terms, means and sums by the number of elements."""
    return loss_tolerance(case)


def cost(case: Case) -> Cost:
    """6 operations per element, and one for a mean or sum."""
    return loss_cost(case, tensors=2, operations=6)


PROBLEM = ProblemDefinition(
    name="aten::huber_loss",
    entry="huber_loss",
    signature="huber_loss(self: Tensor, target: Tensor, reduction: int = 1, delta: float = 1.0) -> Tensor",
    summary="Huber loss with delta and none/mean/sum reduction",
    category=Category.LOSS,
    second_oracle="PyTorch's huber_loss, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
)
