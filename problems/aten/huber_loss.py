"""Huber loss: y = z * z / 2 where z = |self - target| < delta, and delta * (z - delta / 2) elsewhere.

Any rank, any strides; all tensors have one shape and dtype.  `reduction` is 0 for none, 1 for the mean, 2 for the sum.
The mean of no elements is NaN and their sum 0.  delta is above 0.  NaN stays NaN, inf gives inf.  float64 is outside of
the contract.

Overloads: huber_loss (tested) and huber_loss.out.
"""

from __future__ import annotations

from engine.model import Case, Category, Cost, ProblemDefinition, Tier, Tolerance
from problems.kit import FLOATS, Arguments, Special, torch
from problems.kit.pointwise.losses import (
    loss_cases,
    loss_cost,
    loss_input,
    loss_other,
    loss_over,
    loss_tolerance,
    one_large_cases,
    one_large_losses,
    reduced,
)

CASES = (
    *loss_cases(dtype=FLOATS, delta=1.0),
    *one_large_cases(delta=1.0),
    *loss_over(Tier.FULL, "{shape} {dtype} delta {delta}", shape=(700,), delta=[0.25, 2.5], dtype=FLOATS),
)

_SPECIAL = (Special.NAN, Special.INF, Special.NEGATIVE_INF, Special.NEGATIVE_ZERO)


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self and target: `shape`; reduction; delta.  "one large" losses are `one_large_losses`, for a delta of 1."""
    x, target = loss_input(case, rng, special=_SPECIAL), loss_other(case, rng)
    if case.word("values") == "one large":
        losses = one_large_losses(case, rng)
        x, target = torch.where(losses < 0.5, (2 * losses).sqrt(), losses + 0.5).to(x.dtype), torch.zeros_like(target)
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
