"""Soft margin loss: y = log(1 + exp(-target * self)).

Any rank, any strides; all tensors have one shape and dtype.  target holds 1 and -1.  `reduction` is 0 for none, 1 for
the mean, 2 for the sum.  The mean of no elements is NaN and their sum 0.  NaN stays NaN; an infinity gives 0 or inf.
Finite numbers whose exponential overflows their dtype are outside of the contract: PyTorch gives inf for them, and a
stable formula does not.  float64 is outside of the contract.

Overloads: soft_margin_loss (tested) and soft_margin_loss.out.
"""

from __future__ import annotations

from engine.model import Case, Category, Cost, ProblemDefinition, Tolerance
from problems.kit import BF16, FLOATS, Arguments, Special, torch
from problems.kit.pointwise.losses import (
    logits_of,
    loss_cases,
    loss_cost,
    loss_input,
    loss_other,
    loss_tolerance,
    one_large_cases,
    one_large_losses,
    reduced,
    signs,
)

CASES = (*loss_cases(dtype=FLOATS), *one_large_cases(dtype=[BF16]))

_LARGEST = 8.0625  # the exponential of a larger one may overflow in 16 bits
_SPECIAL = (Special.NAN, Special.INF, Special.NEGATIVE_INF, Special.NEGATIVE_ZERO)


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: `shape`, between -8 and 8; target: 1 and -1; reduction.  "one large" losses are `one_large_losses`."""
    x = loss_input(case, rng, draw=_moderate, special=_SPECIAL)
    target = loss_other(case, rng, draw=signs)
    if case.word("values") == "one large":
        x = (-target.double() * logits_of(one_large_losses(case, rng, largest=_LARGEST))).to(x.dtype)
    return x, target, case.size("reduction")


def reference(x: torch.Tensor, target: torch.Tensor, reduction: int = 1) -> torch.Tensor:
    """The shape of self, or a scalar; computed in float64."""
    z = -target.double() * x.double()
    return reduced(torch.logaddexp(z, torch.zeros_like(z)), reduction, x.dtype)


def eager(x: torch.Tensor, target: torch.Tensor, reduction: int = 1) -> torch.Tensor:
    """PyTorch's operator."""
    answer: torch.Tensor = torch.ops.aten.soft_margin_loss(x, target, reduction)
    return answer


def tolerance(case: Case) -> Tolerance:
    """As for all losses: elements by their terms, means and sums by the number of elements."""
    return loss_tolerance(case)


def cost(case: Case) -> Cost:
    """5 operations per element, and one for a mean or sum."""
    return loss_cost(case, tensors=2, operations=5)


def _moderate(x: torch.Tensor) -> torch.Tensor:
    """Between -8 and 8, where the exponential is finite in float16."""
    return x.clamp(-8, 8)


PROBLEM = ProblemDefinition(
    name="aten::soft_margin_loss",
    entry="soft_margin_loss",
    signature="soft_margin_loss(self: Tensor, target: Tensor, reduction: int = 1) -> Tensor",
    summary="log(1+exp(-y*x)) with reduction",
    category=Category.LOSS,
    second_oracle="PyTorch's soft_margin_loss, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    cannot_reject={
        "infinities_clamped": "the exponential of the largest finite number is inf, too",
    },
)
