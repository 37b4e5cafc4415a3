"""Square: y = x * x.

Any rank, any strides; floats, integers and complex numbers.  Integers wrap around.  A square above the largest finite
number is inf, NaN stays NaN.

Overloads: square (tested) and square.out.
"""

from __future__ import annotations

from engine.model import Case, Category, Cost, DType, ProblemDefinition, Tolerance
from problems.kit import FLOATS, INTEGERS, Arguments, cancelling, rounded, torch
from problems.kit.pointwise.unary import in_double, unary_cases, unary_cost, unary_values

CASES = unary_cases(dtype=[*FLOATS, DType.FLOAT64, *INTEGERS, DType.COMPLEX64])


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: any shape, mixed magnitudes; integers over the whole range of their dtype."""
    return (unary_values(case, rng),)


def reference(x: torch.Tensor) -> torch.Tensor:
    """The shape of x."""
    return _squared(x)


def eager(x: torch.Tensor) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.square(x)


def tolerance(case: Case) -> Tolerance:
    """One rounding; the parts of a complex square are differences of products."""
    return cancelling(case.dtype) if case.dtype.is_complex else rounded(case.dtype)


def cost(case: Case) -> Cost:
    """One operation per element."""
    return unary_cost(case, operations=1)


def _squared(x: torch.Tensor) -> torch.Tensor:
    """Integers in 64 bits, truncated to their dtype, so they wrap around; other dtypes in double precision."""
    if x.is_complex() or x.is_floating_point():
        return in_double(lambda wide: wide * wide, x)
    return (x.long() * x.long()).to(x.dtype)


PROBLEM = ProblemDefinition(
    name="aten::square",
    entry="square",
    signature="square(self: Tensor) -> Tensor",
    summary="x*x",
    category=Category.POINTWISE_UNARY,
    second_oracle="mpmath with 40 digits",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    cannot_reject={
        "infinities_clamped": "the squares of the largest finite numbers are inf, too",
    },
)
