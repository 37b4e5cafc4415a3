"""Complementary error function: y = 1 - erf(x) = 2 / sqrt(pi) * (integral of exp(-t * t) from x to inf).

Any rank, any strides.  Integers and booleans give float32.  inf gives 0, -inf 2, NaN stays NaN.

Overloads: erfc (tested), erfc.out and those of Python scalars, which compute the same.
"""

from __future__ import annotations

from engine.model import Case, Category, Cost, DType, ProblemDefinition, Tier, Tolerance
from problems.kit import BF16, F32, FLOATS, WHOLE, Arguments, Layout, cases_over, rounded, torch
from problems.kit.pointwise.unary import in_double, unary_cases, unary_cost, unary_values
from problems.kit.promotion import floating

CASES = (
    *unary_cases(dtype=[*FLOATS, DType.FLOAT64, *WHOLE]),
    *cases_over(Tier.FULL, "{shape} {dtype} {values}", shape=(600,), dtype=[F32, BF16, DType.FLOAT64], values="tail",
                layout=Layout.CONTIGUOUS),
)  # fmt: skip

_EDGES = (3.0, 5.0, 9.0, -3.0, 10.5)


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: any shape, mixed magnitudes; integers from -40 to 40; a "tail" is between 4.5 and 8.5.

    In a tail, 1 - erf(x) computed as a difference is 0 or a multiple of a unit in the last place of 1.
    """
    draw = _tail if case.word("values") == "tail" else None
    return (unary_values(case, rng, draw=draw, edges=_EDGES, low=-40, high=41),)


def reference(x: torch.Tensor) -> torch.Tensor:
    """The shape of x, computed in float64."""
    return in_double(torch.erfc, x)


def eager(x: torch.Tensor) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.erfc(x)


def tolerance(case: Case) -> Tolerance:
    """One rounding of a float32 result."""
    return rounded(floating(case.dtype))


def cost(case: Case) -> Cost:
    """20 operations per element."""
    return unary_cost(case, operations=20, result=floating(case.dtype))


def _tail(x: torch.Tensor) -> torch.Tensor:
    """From 4.5 to 8.5."""
    return 4.5 + 4 * torch.sigmoid(x)


PROBLEM = ProblemDefinition(
    name="aten::erfc",
    entry="erfc",
    signature="erfc(self: Tensor) -> Tensor",
    summary="Complementary error function",
    category=Category.POINTWISE_UNARY,
    second_oracle="mpmath with 40 digits",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    cannot_reject={
        "infinities_clamped": "the answer is 0 or 2 for the largest finite numbers, too",
    },
)
