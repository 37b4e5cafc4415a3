"""Entropy term: y = -x * ln(x) for x > 0, 0 for x = 0, -inf for x < 0.

Any rank, any strides.  Integers and booleans give float32.  Both zeros give 0, negative values -inf, inf gives -inf,
NaN stays NaN.

Overloads: special_entr (tested) and special_entr.out.
"""

from __future__ import annotations

import math

from engine.model import Case, Category, Cost, DType, ProblemDefinition, Tolerance
from problems.kit import FLOATS, WHOLE, Arguments, rounded, torch
from problems.kit.pointwise.unary import in_double, unary_cases, unary_cost, unary_values
from problems.kit.promotion import floating

CASES = unary_cases(dtype=[*FLOATS, DType.FLOAT64, *WHOLE])

_EDGES = (0.0, 1.0, -1.0, 0.3671875, 2.0, 1.0078125)


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: any shape, 0 and up; integers from -3 to 59."""
    return (unary_values(case, rng, draw=_non_negative, edges=_EDGES, low=-3, high=60),)


def reference(x: torch.Tensor) -> torch.Tensor:
    """The shape of x, computed in float64."""
    return in_double(_entropy, x)


def eager(x: torch.Tensor) -> torch.Tensor:
    """PyTorch's operator."""
    answer: torch.Tensor = torch.special.entr(x)
    return answer


def tolerance(case: Case) -> Tolerance:
    """PyTorch may round twice in half precision: the logarithm and the product."""
    return rounded(floating(case.dtype), roundings=3)


def cost(case: Case) -> Cost:
    """10 operations per element."""
    return unary_cost(case, operations=10, result=floating(case.dtype))


def _non_negative(x: torch.Tensor) -> torch.Tensor:
    """0 and up."""
    return x.abs()


def _entropy(x: torch.Tensor) -> torch.Tensor:
    """The definition, case by case; a NaN is in the last case."""
    positive = -x * torch.log(x)
    answer: torch.Tensor = torch.where(x < 0, -math.inf, torch.where(x == 0, 0.0, positive))
    return answer


PROBLEM = ProblemDefinition(
    name="aten::special_entr",
    entry="special_entr",
    signature="special_entr(self: Tensor) -> Tensor",
    summary="Entropy term -x*ln(x), 0 at 0, -inf below 0",
    category=Category.SPECIAL_FUNCTION,
    second_oracle="mpmath with 40 digits",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    cannot_reject={
        "infinities_clamped": "the answer is -inf for the largest finite numbers, too",
    },
)
