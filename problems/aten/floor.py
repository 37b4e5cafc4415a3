"""Floor: y = the largest whole number that is not above x.

Any rank, any strides; floats and integers, which stay as they are.  NaN, infinities and -0.0 stay as they are.
Subnormal values, which a device may flush to zero, are not part of the contract.  float64 is outside of the contract.

Overloads: floor (tested), floor.out and those of Python scalars, which compute the same.
"""

from __future__ import annotations

from engine.model import Case, Category, Cost, Determinism, ProblemDefinition, Tolerance
from problems.kit import EXACT, FLOATS, INTEGERS, Arguments, torch
from problems.kit.pointwise.unary import SUBNORMAL_FREE, unary_cases, unary_cost, unary_values

CASES = unary_cases(dtype=[*FLOATS, *INTEGERS])

_EDGES = (0.5, -0.5, 1.0, -1.0, 2.5, -2.5, 3.9921875, 65504.0)


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: any shape, mixed magnitudes; integers over the whole range of their dtype."""
    return (unary_values(case, rng, edges=_EDGES, special=SUBNORMAL_FREE),)


def reference(x: torch.Tensor) -> torch.Tensor:
    """The shape of x."""
    return torch.floor(x.double()).to(x.dtype) if x.is_floating_point() else x.clone()


def eager(x: torch.Tensor) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.floor(x)


def tolerance(case: Case) -> Tolerance:
    """Bitwise equality."""
    return EXACT


def cost(case: Case) -> Cost:
    """One operation per element."""
    return unary_cost(case, operations=1)


PROBLEM = ProblemDefinition(
    name="aten::floor",
    entry="floor",
    signature="floor(self: Tensor) -> Tensor",
    summary="Round towards minus infinity",
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
