"""Inverse sine: y = arcsin(x), between -pi / 2 and pi / 2.

Any rank, any strides.  Integers and booleans give float32.  Beyond -1 and 1 and for NaN the answer is NaN. Complex
values take the principal branch; their special values are outside of the contract.

Overloads: asin (tested), asin.out and those of Python scalars, which compute the same.
"""

from __future__ import annotations

from engine.model import Case, Category, Cost, DType, ProblemDefinition, Tolerance
from problems.kit import FLOATS, WHOLE, Arguments, rounded, torch
from problems.kit.pointwise.unary import in_double, unary_cases, unary_cost, unary_values
from problems.kit.promotion import floating

CASES = unary_cases(dtype=[*FLOATS, DType.FLOAT64, *WHOLE, DType.COMPLEX64])

_EDGES = (1.0, -1.0, 0.9921875, -0.9921875, 0.5, 1.0078125)


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: any shape, between -1 and 1; integers from -1 to 2."""
    return (unary_values(case, rng, draw=_within_one, edges=_EDGES, low=-1, high=3),)


def reference(x: torch.Tensor) -> torch.Tensor:
    """The shape of x, computed in float64 or complex128."""
    return in_double(torch.asin, x)


def eager(x: torch.Tensor) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.asin(x)


def tolerance(case: Case) -> Tolerance:
    """One rounding of a float32 result."""
    return rounded(floating(case.dtype))


def cost(case: Case) -> Cost:
    """12 operations per element."""
    return unary_cost(case, operations=12, result=floating(case.dtype))


def _within_one(x: torch.Tensor) -> torch.Tensor:
    """Between -1 and 1, in several magnitudes."""
    return x / (1 + x.abs())


PROBLEM = ProblemDefinition(
    name="aten::asin",
    entry="asin",
    signature="asin(self: Tensor) -> Tensor",
    summary="Inverse sine",
    category=Category.POINTWISE_UNARY,
    second_oracle="mpmath with 40 digits",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    cannot_reject={
        "infinities_clamped": "the answer is NaN for all numbers beyond 1",
    },
)
