"""Product: y = self * other, with broadcasting.

Any rank, any strides.  Both operands are converted to the dtype of the result first, by PyTorch's promotion.  Integers
wrap around, the product of booleans is their conjunction.  IEEE arithmetic: 0 * inf is NaN, NaN stays NaN, an overflow
is inf.  Special values of complex numbers are outside of the contract.

Overloads: mul.Tensor and mul.Scalar (tested), mul.out and mul.Scalar_out.
"""

from __future__ import annotations

from engine.model import Case, Category, Cost, DType, ProblemDefinition, Tolerance
from problems.kit import FLOATS, WHOLE, Arguments, cancelling, rounded, torch
from problems.kit.pointwise.binary import (
    binary_arguments,
    binary_cases,
    binary_cost,
    binary_result,
    binary_values,
    widened,
)

CASES = binary_cases(dtype=[*FLOATS, DType.FLOAT64, *WHOLE, DType.COMPLEX64], scalars=[3, -2.5])


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: `shape`, other: `other`, which broadcast, or a number."""
    left, right = binary_values(case, rng)
    return binary_arguments(case, left, right)


def reference(x: torch.Tensor, other: torch.Tensor | float) -> torch.Tensor:
    """The broadcast shape, computed in float64 or 64-bit integers."""
    left, right, kind = widened(x, other)
    return (left * right).to(kind)


def eager(x: torch.Tensor, other: torch.Tensor | float) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.mul(x, other)


def tolerance(case: Case) -> Tolerance:
    """One rounding; the parts of a complex product are differences of products."""
    return cancelling(result) if (result := binary_result(case)).is_complex else rounded(result)


def cost(case: Case) -> Cost:
    """One operation per element."""
    return binary_cost(case, operations=1)


PROBLEM = ProblemDefinition(
    name="aten::mul",
    entry="mul",
    signature="mul(self: Tensor, other: Tensor | float) -> Tensor",
    summary="Element-wise product",
    category=Category.POINTWISE_BINARY,
    second_oracle="numpy.multiply, in double precision",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
)
