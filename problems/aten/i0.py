"""Modified Bessel function of order 0: y = sum over k of (x * x / 4)^k / (k!)^2.

Any rank, any strides.  Integers and booleans give float32.  Even in x; NaN stays NaN.  A result above the largest
finite number is inf.  Numbers beyond 88 and infinities are outside of the contract: the factor exp(x) of the usual
formula overflows float32 before the result does, and PyTorch itself gives NaN for inf.

Overloads: i0 (tested) and i0.out.
"""

from __future__ import annotations

from engine.model import Case, Category, Cost, DType, ProblemDefinition, Tolerance
from problems.kit import FLOATS, WHOLE, Arguments, Special, rounded, torch
from problems.kit.pointwise.unary import in_double, unary_cases, unary_cost, unary_values
from problems.kit.promotion import floating

CASES = unary_cases(dtype=[*FLOATS, DType.FLOAT64, *WHOLE])

_EDGES = (8.0, -8.0, 8.0625, 7.9375, 13.0, -11.0, 80.0)

_SPECIAL = (Special.NAN, Special.NEGATIVE_ZERO, Special.SUBNORMAL)


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: any shape, between -8.5 and 8.5; integers from -9 to 9."""
    return (unary_values(case, rng, draw=_moderate, edges=_EDGES, special=_SPECIAL, low=-9, high=10),)


def reference(x: torch.Tensor) -> torch.Tensor:
    """The shape of x, computed in float64."""
    return in_double(torch.i0, x)


def eager(x: torch.Tensor) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.i0(x)


def tolerance(case: Case) -> Tolerance:
    """One rounding of a float32 result."""
    return rounded(floating(case.dtype))


def cost(case: Case) -> Cost:
    """60 operations per element."""
    return unary_cost(case, operations=60, result=floating(case.dtype))


def _moderate(x: torch.Tensor) -> torch.Tensor:
    """Between -8.5 and 8.5: both sides of 8, where the common approximation changes its formula."""
    return x.clamp(-8.5, 8.5)


PROBLEM = ProblemDefinition(
    name="aten::i0",
    entry="i0",
    signature="i0(self: Tensor) -> Tensor",
    summary="Modified Bessel function of order 0",
    category=Category.SPECIAL_FUNCTION,
    second_oracle="mpmath with 40 digits",
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
