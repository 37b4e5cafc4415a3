"""Comparison: y = (self <= other), true or false.

Any rank, any strides; the answer is bool.  Both operands are converted to their common dtype first, by PyTorch's
promotion.  Float32 numbers that differ in their last bit differ.  A comparison with NaN is false, 0.0 and -0.0 are
equal.

Overloads: le.Tensor and le.Scalar (tested), and their .out forms; those of Python values compute the same.
"""

from __future__ import annotations

from engine.model import Case, Category, Cost, Determinism, DType, ProblemDefinition, Tolerance
from problems.kit import EXACT, FLOATS, WHOLE, Arguments, torch
from problems.kit.pointwise.binary import binary_arguments, binary_cases, binary_cost, widened
from problems.kit.pointwise.comparisons import compared_values

CASES = binary_cases(dtype=[*FLOATS, DType.FLOAT64, *WHOLE], scalars=[2, -0.5])


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: `shape`, other: `other`, which broadcast, or a number; many pairs are equal or neighbours."""
    left, right = compared_values(case, rng)
    return binary_arguments(case, left, right)


def reference(x: torch.Tensor, other: torch.Tensor | float) -> torch.Tensor:
    """The broadcast shape, compared in float64 or 64-bit integers."""
    left, right, _ = widened(x, other)
    return left <= right


def eager(x: torch.Tensor, other: torch.Tensor | float) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.le(x, other)


def tolerance(case: Case) -> Tolerance:
    """Bitwise equality."""
    return EXACT


def cost(case: Case) -> Cost:
    """One operation per element."""
    return binary_cost(case, operations=1, result=DType.BOOL)


PROBLEM = ProblemDefinition(
    name="aten::le",
    entry="le",
    signature="le(self: Tensor, other: Tensor | float) -> Tensor",
    summary="Element-wise less-or-equal",
    category=Category.COMPARISON,
    second_oracle="numpy.less_equal, in double precision",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    determinism=Determinism.EXACT,
)
