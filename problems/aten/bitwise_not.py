"""Bitwise complement: y = -x - 1 of integers, and not x of booleans.

Any rank, any strides; integers of every width in two's complement, 255 - x in uint8, and bool.

Overloads: bitwise_not (tested) and bitwise_not.out.
"""

from __future__ import annotations

from engine.model import Case, Category, Cost, Determinism, ProblemDefinition, Tolerance
from problems.kit import EXACT, WHOLE, Arguments, torch
from problems.kit.pointwise.unary import unary_cases, unary_cost, unary_values

CASES = unary_cases(dtype=WHOLE)


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: any shape, mixed magnitudes; integers over the whole range of their dtype."""
    return (unary_values(case, rng),)


def reference(x: torch.Tensor) -> torch.Tensor:
    """The shape of x."""
    return x == 0 if x.dtype == torch.bool else (-1 - x.long()).to(x.dtype)


def eager(x: torch.Tensor) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.bitwise_not(x)


def tolerance(case: Case) -> Tolerance:
    """Bitwise equality."""
    return EXACT


def cost(case: Case) -> Cost:
    """One operation per element."""
    return unary_cost(case, operations=1)


PROBLEM = ProblemDefinition(
    name="aten::bitwise_not",
    entry="bitwise_not",
    signature="bitwise_not(self: Tensor) -> Tensor",
    summary="Bitwise complement of integers, logical not of bool",
    category=Category.POINTWISE_UNARY,
    second_oracle="PyTorch's bitwise_not, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    determinism=Determinism.EXACT,
    cannot_reject={
        "nan_dropped": "integers have no NaN",
        "infinities_clamped": "integers have no infinities",
    },
)
