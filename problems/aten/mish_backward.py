"""Gradient of mish: y = grad_output * (t + self * sigmoid(self) * (1 - t * t)), t = tanh(log(1 + exp(self))).

Any rank, any strides; all tensors have one shape and dtype.  NaN stays NaN.  Infinities are outside of the contract:
the formula is inf times 0 there.  float64 is outside of the contract.

Overload: mish_backward is the only one.
"""

from __future__ import annotations

import math

from engine.model import Case, Category, Cost, ProblemDefinition, Tolerance
from problems.kit import FLOATS, Arguments, Special, rounded, torch
from problems.kit.pointwise.losses import loss_cases, loss_cost, loss_input, loss_other
from problems.kit.tolerances import of_few
from problems.kit.values import MIXED_RMS

CASES = loss_cases(dtype=FLOATS, reductions=(0,))

_SPECIAL = (Special.NAN, Special.NEGATIVE_ZERO, Special.SUBNORMAL)
_EDGES = (20.0, -20.0, 40.0, -40.0)


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """grad_output, self: `shape`."""
    x = loss_input(case, rng, special=_SPECIAL, edges=_EDGES)
    return loss_other(case, rng), x


def reference(grad: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """The shape of self, computed in float64."""
    wide = x.double()
    t = torch.tanh(torch.logaddexp(wide, torch.zeros_like(wide)))
    return (grad.double() * (t + wide * torch.sigmoid(wide) * (1 - t * t))).to(x.dtype)


def eager(grad: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """PyTorch's operator."""
    answer: torch.Tensor = torch.ops.aten.mish_backward(grad, x)
    return answer


def tolerance(case: Case) -> Tolerance:
    """Factors may each be rounded to the dtype; 1 - t * t cancels for large self.

    The derivative is zero near -1.2, where terms of 0.3 cancel; over all self its root mean square is above 1/2.
    """
    usual = rounded(case.dtype, roundings=3, terms=16)
    return of_few(usual, outputs=math.prod(case.shape("shape")), scale=MIXED_RMS / 2)


def cost(case: Case) -> Cost:
    """12 operations per element."""
    return loss_cost(case, tensors=2, operations=12)


PROBLEM = ProblemDefinition(
    name="aten::mish_backward",
    entry="mish_backward",
    signature="mish_backward(grad_output: Tensor, self: Tensor) -> Tensor",
    summary="Gradient of mish",
    category=Category.BACKWARD,
    second_oracle="PyTorch's mish_backward, in every smoke and full case",
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
