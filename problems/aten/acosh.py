"""Inverse hyperbolic cosine: y = log(x + sqrt(x * x - 1)).

Any rank, any strides.  Integers and booleans give float32.  Below 1 and for NaN the answer is NaN, inf stays inf.
Complex values take the principal branch; their special values are outside of the contract.

Overloads: acosh (tested), acosh.out and those of Python scalars, which compute the same.
"""

from __future__ import annotations

from engine.model import Case, Category, Cost, DType, ProblemDefinition, Tier, Tolerance
from problems.kit import F32, FLOATS, WHOLE, Arguments, Layout, cases_over, rounded, torch
from problems.kit.pointwise.unary import in_double, unary_cases, unary_cost, unary_values
from problems.kit.promotion import floating

CASES = (
    *unary_cases(dtype=[*FLOATS, DType.FLOAT64, *WHOLE, DType.COMPLEX64]),
    *cases_over(Tier.FULL, "{shape} {dtype} {values}", shape=(129,), dtype=F32, layout=Layout.CONTIGUOUS,
                values="near one"),
)  # fmt: skip

_EDGES = (1.0, 1.0078125, 0.5, -1.0, 2.0, 30000.0)
_NEAR = 2.0**-17  # distance from 1 at which the sum in the logarithm rounds away half of the bits


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: any shape, 1 and up, "near one" at a distance of about 1e-5; integers from -2 to 59."""
    draw = _near_one if case.word("values") == "near one" else _from_one
    return (unary_values(case, rng, draw=draw, edges=_EDGES, low=-2, high=60),)


def reference(x: torch.Tensor) -> torch.Tensor:
    """The shape of x, computed in float64 or complex128."""
    return in_double(torch.acosh, x)


def eager(x: torch.Tensor) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.acosh(x)


def tolerance(case: Case) -> Tolerance:
    """One rounding of a float32 result."""
    return rounded(floating(case.dtype))


def cost(case: Case) -> Cost:
    """10 operations per element."""
    return unary_cost(case, operations=10, result=floating(case.dtype))


def _from_one(x: torch.Tensor) -> torch.Tensor:
    """1 and up."""
    return 1 + x.abs()


def _near_one(x: torch.Tensor) -> torch.Tensor:
    """A little above 1."""
    return 1 + _NEAR * x.abs()


PROBLEM = ProblemDefinition(
    name="aten::acosh",
    entry="acosh",
    signature="acosh(self: Tensor) -> Tensor",
    summary="Inverse hyperbolic cosine",
    category=Category.POINTWISE_UNARY,
    second_oracle="mpmath with 40 digits",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    cannot_reject={
        "nan_dropped": "the answer to 0 is NaN, too",
    },
)
