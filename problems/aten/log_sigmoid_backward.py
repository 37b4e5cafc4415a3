"""Gradient of log-sigmoid: y = grad_output / (1 + exp(self)).

Any rank, any strides; all tensors have one shape and dtype.  buffer holds exp(-|self|), the result of the forward pass
on a CPU; it need not be read, and PyTorch does not read it on a GPU.  NaN stays NaN, inf gives 0 and -inf grad_output.
float64 is outside of the contract.

Overloads: log_sigmoid_backward (tested) and log_sigmoid_backward.grad_input.
"""

from __future__ import annotations

from engine.model import Case, Category, Cost, ProblemDefinition, Tolerance
from problems.kit import FLOATS, Arguments, laid_out, rounded, torch
from problems.kit.pointwise.losses import loss_cases, loss_cost, loss_input, loss_other

CASES = loss_cases(dtype=FLOATS, reductions=(0,))

_EDGES = (20.0, -20.0, -40.0, 40.0)


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """grad_output, self: `shape`; buffer: exp(-|self|) in their dtype."""
    x = loss_input(case, rng, edges=_EDGES)
    buffer = laid_out(torch.exp(-x.float().abs()).to(x.dtype), case.word("other_layout"))
    return loss_other(case, rng), x, buffer


def reference(grad: torch.Tensor, x: torch.Tensor, buffer: torch.Tensor) -> torch.Tensor:
    """The shape of self, computed in float64."""
    return (grad.double() * torch.sigmoid(-x.double())).to(x.dtype)


def eager(grad: torch.Tensor, x: torch.Tensor, buffer: torch.Tensor) -> torch.Tensor:
    """PyTorch's operator."""
    answer: torch.Tensor = torch.ops.aten.log_sigmoid_backward(grad, x, buffer)
    return answer


def tolerance(case: Case) -> Tolerance:
    """Factors and their product may each be rounded to the dtype."""
    return rounded(case.dtype, roundings=3)


def cost(case: Case) -> Cost:
    """4 operations per element."""
    return loss_cost(case, tensors=2, operations=4)


PROBLEM = ProblemDefinition(
    name="aten::log_sigmoid_backward",
    entry="log_sigmoid_backward",
    signature="log_sigmoid_backward(grad_output: Tensor, self: Tensor, buffer: Tensor) -> Tensor",
    summary="Gradient of log-sigmoid from grad, input and buffer",
    category=Category.BACKWARD,
    second_oracle="PyTorch's log_sigmoid_backward, in every smoke and full case",
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
