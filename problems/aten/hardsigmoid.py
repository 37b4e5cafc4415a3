"""Hard sigmoid: y = min(max(x + 3, 0), 6) / 6.

Any rank, any strides.  NaN stays NaN, inf gives 1 and -inf 0.

Overloads: hardsigmoid (tested) and hardsigmoid.out.
"""

from __future__ import annotations

from engine.model import Case, Category, Cost, DType, ProblemDefinition, Tolerance
from problems.kit import FLOATS, Arguments, rounded, torch
from problems.kit.pointwise.unary import in_double, unary_cases, unary_cost, unary_values

CASES = unary_cases(dtype=[*FLOATS, DType.FLOAT64])

_EDGES = (-3.0, 3.0, -3.015625, 3.015625, 2.984375)


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: any shape, mixed magnitudes."""
    return (unary_values(case, rng, edges=_EDGES),)


def reference(x: torch.Tensor) -> torch.Tensor:
    """The shape of x, computed in float64."""
    return in_double(_hardsigmoid, x)


def eager(x: torch.Tensor) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.nn.functional.hardsigmoid(x)


def tolerance(case: Case) -> Tolerance:
    """One rounding of a float32 result, for float64 in float64.

    A sum, a clamp and a quotient, or a product with 1/6: three roundings, fused or not.  With the float32 value of 1/6
    the product has an error of 3.0e-8 in float64; that is single precision and is not accepted.  PyTorch's own kernel
    on a GPU does this (`opmath_t one_sixth(1.0f / 6.0f)` in aten/src/ATen/native/cuda/ActivationHardsigmoidKernel.cu),
    and exceeds the tolerance in the float64 case.
    """
    return rounded(case.dtype)


def cost(case: Case) -> Cost:
    """4 operations per element."""
    return unary_cost(case, operations=4)


def _hardsigmoid(x: torch.Tensor) -> torch.Tensor:
    """The formula."""
    return (x + 3).clamp(0, 6) / 6


PROBLEM = ProblemDefinition(
    name="aten::hardsigmoid",
    entry="hardsigmoid",
    signature="hardsigmoid(self: Tensor) -> Tensor",
    summary="relu6(x+3)/6",
    category=Category.ACTIVATION,
    second_oracle="mpmath with 40 digits",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    cannot_reject={
        "infinities_clamped": "the answer is 0 or 1 for the largest finite numbers, too",
    },
)
