"""Negation: y = -x.

Any rank, any strides; floats, integers and complex numbers, not bool.  The least number of a signed integer type stays
as it is, and unsigned ones wrap around: the negation of 1 is 255 in uint8.  NaN stays NaN.  Zeros may have either sign:
some versions of Triton compute -x as 0 - x, which is 0.0 for 0.0.

Overloads: neg (tested), neg.out and those of Python scalars, which compute the same.
"""

from __future__ import annotations

from engine.model import Case, Category, Cost, Determinism, DType, ProblemDefinition, Tolerance
from problems.kit import EQUAL, FLOATS, INTEGERS, Arguments, torch
from problems.kit.pointwise.unary import unary_cases, unary_cost, unary_values

CASES = unary_cases(dtype=[*FLOATS, DType.FLOAT64, *INTEGERS, DType.COMPLEX64])


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: any shape, mixed magnitudes; integers over the whole range of their dtype."""
    return (unary_values(case, rng),)


def reference(x: torch.Tensor) -> torch.Tensor:
    """The shape of x."""
    return torch.zeros_like(x) - x if not (x.is_floating_point() or x.is_complex()) else x * -1


def eager(x: torch.Tensor) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.neg(x)


def tolerance(case: Case) -> Tolerance:
    """Bitwise equality."""
    return EQUAL


def cost(case: Case) -> Cost:
    """One operation per element."""
    return unary_cost(case, operations=1)


PROBLEM = ProblemDefinition(
    name="aten::neg",
    entry="neg",
    signature="neg(self: Tensor) -> Tensor",
    summary="Negation",
    category=Category.POINTWISE_UNARY,
    second_oracle="mpmath with 40 digits",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    determinism=Determinism.EXACT,
)
