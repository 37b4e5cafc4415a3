"""Hyperbolic cosine: y = (exp(x) + exp(-x)) / 2.

Any rank, any strides.  Integers and booleans give float32.  Both infinities give inf and NaN stays NaN; a result above
the largest finite number is inf.  Where exp(abs(x)) is above that number and the result is not, the result may be inf,
too, as PyTorch returns one or the other by the position of the element: 88.73 to 89.41 in float32 and bfloat16.
Special values of complex numbers are outside of the contract.

Overloads: cosh (tested), cosh.out and those of Python scalars, which compute the same.
"""

from __future__ import annotations

from engine.model import Case, Category, Cost, DType, ProblemDefinition, Tolerance
from problems.kit import FLOATS, WHOLE, Arguments, rounded, torch
from problems.kit.pointwise.unary import in_double, unary_cases, unary_cost, unary_values
from problems.kit.promotion import floating

CASES = unary_cases(dtype=[*FLOATS, DType.FLOAT64, *WHOLE, DType.COMPLEX64])

_EDGES = (10.0, -10.0, 0.0078125, 9.0, 88.0)


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: any shape, between -9 and 9; integers from -30 to 30."""
    return (unary_values(case, rng, draw=_moderate, edges=_EDGES, low=-30, high=31),)


def reference(x: torch.Tensor) -> torch.Tensor:
    """The shape of x, computed in float64 or complex128."""
    return in_double(torch.cosh, x)


def eager(x: torch.Tensor) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.cosh(x)


def tolerance(case: Case) -> Tolerance:
    """One rounding of a float32 result."""
    return rounded(floating(case.dtype))


def cost(case: Case) -> Cost:
    """5 operations per element."""
    return unary_cost(case, operations=5, result=floating(case.dtype))


def _moderate(x: torch.Tensor) -> torch.Tensor:
    """Between -9 and 9, so that a typical result is not much smaller than the largest."""
    return x.clamp(-9, 9)


PROBLEM = ProblemDefinition(
    name="aten::cosh",
    entry="cosh",
    signature="cosh(self: Tensor) -> Tensor",
    summary="Hyperbolic cosine",
    category=Category.POINTWISE_UNARY,
    second_oracle="mpmath with 40 digits",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    cannot_reject={
        "infinities_clamped": "the answer is inf for the largest finite numbers, too",
    },
)
