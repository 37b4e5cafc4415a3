"""Gradient of softplus: y = grad_output * z / (1 + z), z = exp(beta * self), up to the threshold.

Any rank, any strides; all tensors have one shape and dtype.  Where beta * self is above the threshold the answer is
grad_output.  beta is above 0 and threshold at most 80.  NaN stays NaN, inf gives grad_output and -inf 0.  float64 is
outside of the contract.

Overloads: softplus_backward (tested) and softplus_backward.grad_input.
"""

from __future__ import annotations

from engine.model import Case, Category, Cost, ProblemDefinition, Tier, Tolerance
from problems.kit import FLOATS, Arguments, rounded, torch
from problems.kit.pointwise.losses import loss_cases, loss_cost, loss_input, loss_other, loss_over

CASES = (
    *loss_cases(dtype=FLOATS, reductions=(0,), beta=1.0, threshold=20.0),
    *loss_over(Tier.FULL, "{shape} {dtype} beta {beta} threshold {threshold}", shape=(700,), beta=[0.5, 2.0],
               threshold=[1.0, 10.0], dtype=FLOATS),
)  # fmt: skip

_EDGES = (20.0, 20.5, -20.0, -40.0, 3.0)


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """grad_output, self: `shape`; beta; threshold."""
    x = loss_input(case, rng, edges=_EDGES)
    return loss_other(case, rng), x, case.number("beta"), case.number("threshold")


def reference(grad: torch.Tensor, x: torch.Tensor, beta: float, threshold: float) -> torch.Tensor:
    """The shape of self, computed in float64."""
    scaled = beta * x.double()
    slope = torch.where(scaled > threshold, 1.0, torch.sigmoid(scaled))
    return (grad.double() * slope).to(x.dtype)


def eager(grad: torch.Tensor, x: torch.Tensor, beta: float, threshold: float) -> torch.Tensor:
    """PyTorch's operator."""
    answer: torch.Tensor = torch.ops.aten.softplus_backward(grad, x, beta, threshold)
    return answer


def tolerance(case: Case) -> Tolerance:
    """Factors and their product may each be rounded to the dtype."""
    return rounded(case.dtype, roundings=3)


def cost(case: Case) -> Cost:
    """6 operations per element."""
    return loss_cost(case, tensors=2, operations=6)


PROBLEM = ProblemDefinition(
    name="aten::softplus_backward",
    entry="softplus_backward",
    signature="softplus_backward(grad_output: Tensor, self: Tensor, beta: float, threshold: float) -> Tensor",
    summary="Gradient of softplus with beta and threshold",
    category=Category.BACKWARD,
    second_oracle="PyTorch's softplus_backward, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    cannot_reject={
        "infinities_clamped": "the slope is 0 or 1 for the largest finite numbers, too",
    },
)
