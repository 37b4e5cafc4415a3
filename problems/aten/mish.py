"""Mish: y = x * tanh(log(1 + exp(x))).

Any rank, any strides.  NaN stays NaN, inf stays inf, and -inf gives NaN, by the formula; the largest finite values stay
finite.  Subnormal values may be flushed to zero.

Overloads: mish (tested) and mish.out.
"""

from __future__ import annotations

from engine.model import Case, Category, Cost, DType, ProblemDefinition, Tolerance
from problems.kit import FLOATS, Arguments, rounded, torch
from problems.kit.pointwise.unary import in_double, unary_cases, unary_cost, unary_values

CASES = unary_cases(dtype=[*FLOATS, DType.FLOAT64])

_EDGES = (20.0, 20.5, -20.0, -40.0, 88.0, -1.0, 90.0)


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: any shape, mixed magnitudes."""
    return (unary_values(case, rng, edges=_EDGES),)


def reference(x: torch.Tensor) -> torch.Tensor:
    """The shape of x, computed in float64."""
    return in_double(_mish, x)


def eager(x: torch.Tensor) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.nn.functional.mish(x)


def tolerance(case: Case) -> Tolerance:
    """One rounding of a float32 result."""
    return rounded(case.dtype)


def cost(case: Case) -> Cost:
    """6 operations per element."""
    return unary_cost(case, operations=6)


def _mish(x: torch.Tensor) -> torch.Tensor:
    """The formula, with log(1 + exp(x)) computed without overflow."""
    return x * torch.tanh(torch.logaddexp(x, torch.zeros_like(x)))


PROBLEM = ProblemDefinition(
    name="aten::mish",
    entry="mish",
    signature="mish(self: Tensor) -> Tensor",
    summary="x*tanh(softplus(x))",
    category=Category.ACTIVATION,
    second_oracle="mpmath with 40 digits",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
)
