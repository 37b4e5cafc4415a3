"""Margin ranking loss: y = max(0, margin - target * (input1 - input2)).

Any rank, any strides; all tensors have one shape and dtype.  target holds 1 and -1.  `reduction` is 0 for none, 1 for
the mean, 2 for the sum.  The mean of no elements is NaN and their sum 0.  NaN stays NaN, infinities follow the formula.
float64 is outside of the contract.

Overload: margin_ranking_loss is the only one.
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
    signs,
)

CASES = (
    *loss_cases(dtype=FLOATS, margin=0.0),
    *loss_over(Tier.FULL, "{shape} {dtype} margin {margin}", shape=(700,), margin=[0.5, -1.0], dtype=FLOATS),
    *one_large_cases(elements=44_032, margin=0.0),
)

_SPECIAL = (Special.NAN, Special.INF, Special.NEGATIVE_INF, Special.NEGATIVE_ZERO)


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """input1, input2: `shape`; target: 1 and -1; margin; reduction.  "one large" losses are `one_large_losses`."""
    x, other = loss_input(case, rng, special=_SPECIAL), loss_other(case, rng)
    target = loss_other(case, rng, draw=signs)
    if case.word("values") == "one large":
        x, other = (-target.double() * one_large_losses(case, rng)).to(x.dtype), torch.zeros_like(x)
    return x, other, target, case.number("margin"), case.size("reduction")


def reference(
    x: torch.Tensor, other: torch.Tensor, target: torch.Tensor, margin: float = 0.0, reduction: int = 1
) -> torch.Tensor:
    """The shape of input1, or a scalar; computed in float64."""
    loss = margin - target.double() * (x.double() - other.double())
    return reduced(loss.clamp(min=0), reduction, x.dtype)


def eager(
    x: torch.Tensor, other: torch.Tensor, target: torch.Tensor, margin: float = 0.0, reduction: int = 1
) -> torch.Tensor:
    """PyTorch's operator."""
    answer: torch.Tensor = torch.ops.aten.margin_ranking_loss(x, other, target, margin, reduction)
    return answer


def tolerance(case: Case) -> Tolerance:
    """As for all losses: elements by their terms, means and sums by the number of elements."""
    return loss_tolerance(case)


def cost(case: Case) -> Cost:
    """4 operations per element, and one for a mean or sum."""
    return loss_cost(case, tensors=3, operations=4)


PROBLEM = ProblemDefinition(
    name="aten::margin_ranking_loss",
    entry="margin_ranking_loss",
    signature=(
        "margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, "
        "reduction: int = 1) -> Tensor"
    ),
    summary="max(0, -y*(x1-x2)+margin), none/mean/sum",
    category=Category.LOSS,
    second_oracle="PyTorch's margin_ranking_loss, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
)
