"""Gradient of smooth L1: y = n * grad_output * min(max((self - target) / beta, -1), 1), n = 1 / elements of a mean.

Any rank, any strides; self and target have one shape and dtype.  `reduction` is 0 for none, where grad_output has their
shape, 1 for the mean and 2 for the sum, where it is a scalar.  beta is above 0.  NaN stays NaN.  float64 is outside of
the contract.

Overloads: smooth_l1_loss_backward (tested) and smooth_l1_loss_backward.grad_input.
"""

from __future__ import annotations

import math

from engine.model import Case, Category, Cost, ProblemDefinition, Tier, Tolerance
from problems.kit import FLOATS, Arguments, normal, torch
from problems.kit.pointwise.losses import loss_cases, loss_input, loss_other, loss_over

CASES = (
    *loss_cases(dtype=FLOATS, beta=1.0),
    *loss_over(Tier.FULL, "{shape} {dtype} beta {beta}", shape=(700,), beta=[0.25, 2.5], dtype=FLOATS),
)


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """grad_output: `shape`, or a scalar of a mean or sum; self, target: `shape`; reduction; beta."""
    x, target, grad = loss_input(case, rng), loss_other(case, rng), loss_other(case, rng)
    if case.size("reduction") != 0:
        grad = normal((), case.dtype, rng)
    return grad, x, target, case.size("reduction"), case.number("beta")


def reference(grad: torch.Tensor, x: torch.Tensor, target: torch.Tensor, reduction: int, beta: float) -> torch.Tensor:
    """The shape of self, computed in float64."""
    share = 1 / x.numel() if reduction == 1 and x.numel() else 1.0
    slope = ((x.double() - target.double()) / beta).clamp(-1, 1)
    return (share * grad.double() * slope).to(x.dtype)


def eager(grad: torch.Tensor, x: torch.Tensor, target: torch.Tensor, reduction: int, beta: float) -> torch.Tensor:
    """PyTorch's operator."""
    answer: torch.Tensor = torch.ops.aten.smooth_l1_loss_backward(grad, x, target, reduction, beta)
    return answer


def tolerance(case: Case) -> Tolerance:
    """A difference that may be rounded, and factors."""
    return _tolerance(case)


def cost(case: Case) -> Cost:
    """5 operations per element."""
    elements = math.prod(case.shape("shape"))
    read = (2 * elements + (elements if case.size("reduction") == 0 else 1)) * case.dtype.bytes
    return Cost(flops=5 * elements, bytes_read=read, bytes_written=elements * case.dtype.bytes)


def _tolerance(case: Case) -> Tolerance:
    """The rounding error of the difference is relative to self; a small beta increases it."""
    scale = max(1.0, 1 / case.number("beta"))
    return Tolerance(relative=4 * case.dtype.epsilon, absolute=16 * scale * case.dtype.epsilon)


PROBLEM = ProblemDefinition(
    name="aten::smooth_l1_loss_backward",
    entry="smooth_l1_loss_backward",
    signature=(
        "smooth_l1_loss_backward(grad_output: Tensor, self: Tensor, target: Tensor, "
        "reduction: int, beta: float) -> Tensor"
    ),
    summary="Gradient of smooth-L1 with beta and reduction",
    category=Category.BACKWARD,
    second_oracle="PyTorch's smooth_l1_loss_backward, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    cannot_reject={
        "infinities_clamped": "the slope is 1 or -1 for the largest finite numbers, too",
    },
)
