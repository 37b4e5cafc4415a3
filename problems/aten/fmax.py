"""Maximum: y = the larger of self and other, or the one that is not NaN.

Any rank, any strides.  Both operands are converted to the dtype of the result first, by PyTorch's promotion.  The
answer is NaN where both are NaN.  0.0 and -0.0 are equal, and either may be returned.

Overloads: fmax (tested) and fmax.out.
"""

from __future__ import annotations

from engine.model import Case, Category, Cost, Determinism, DType, ProblemDefinition, Tolerance
from problems.kit import EQUAL, FLOATS, WHOLE, Arguments, torch
from problems.kit.pointwise.binary import binary_arguments, binary_cases, binary_cost, widened
from problems.kit.pointwise.comparisons import compared_values

CASES = binary_cases(dtype=[*FLOATS, DType.FLOAT64, *WHOLE])


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: `shape`, other: `other`, which broadcast."""
    left, right = compared_values(case, rng)
    return binary_arguments(case, left, right)


def reference(x: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """The broadcast shape, computed in float64 or 64-bit integers."""
    left, right, kind = widened(x, other)
    if kind.is_floating_point:
        left, right = torch.where(left.isnan(), right, left), torch.where(right.isnan(), left, right)
    return torch.maximum(left, right).to(kind)


def eager(x: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.fmax(x, other)


def tolerance(case: Case) -> Tolerance:
    """Bitwise equality."""
    return EQUAL


def cost(case: Case) -> Cost:
    """One operation per element."""
    return binary_cost(case, operations=1)


PROBLEM = ProblemDefinition(
    name="aten::fmax",
    entry="fmax",
    signature="fmax(self: Tensor, other: Tensor) -> Tensor",
    summary="Element-wise maximum that ignores NaN",
    category=Category.POINTWISE_BINARY,
    second_oracle="PyTorch's fmax, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    determinism=Determinism.EXACT,
)
