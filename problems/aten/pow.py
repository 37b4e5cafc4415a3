"""Power: y = self ^ exponent, with broadcasting.

Any rank, any strides; one of the two may be a number.  Both operands are converted to the dtype of the result first, by
PyTorch's promotion.  As C's pow: anything to the power 0 and 1 to any power are 1, NaN included; a finite negative base
gives NaN for finite exponents that are not whole; 0 to a negative power is inf, -inf for -0.0 and an odd exponent.
Integers wrap around and take exponents from 0 up.  Complex numbers are outside of the contract.

Overloads: pow.Tensor_Tensor, pow.Tensor_Scalar and pow.Scalar (tested), and their .out forms.
"""

from __future__ import annotations

from engine.model import Case, Category, Cost, DType, ProblemDefinition, Tier, Tolerance
from problems.kit import FLOATS, INTEGERS, Arguments, rounded, torch
from problems.kit.pointwise.binary import (
    NO_SCALAR,
    binary_arguments,
    binary_cases,
    binary_cost,
    binary_over,
    binary_result,
    binary_values,
    other_dtype,
    widened,
)
from problems.kit.pointwise.unary import unary_cost
from problems.kit.promotion import with_scalar

CASES = (
    *binary_cases(dtype=[*FLOATS, DType.FLOAT64, *INTEGERS], scalars=[2, 3, 0.5, -1.5, 0], base=NO_SCALAR),
    *binary_over(Tier.FULL, "{base} to {shape} {dtype}", shape=(13, 33), other=(), base=[2, 0.5, 0],
                 dtype=[*FLOATS, DType.INT32]),
    *binary_over(Tier.FULL, "{shape} {dtype} {values}", shape=(13, 33), other=(13, 33), base=NO_SCALAR,
                 dtype=[DType.UINT8, DType.INT32], values="large exponents"),
)  # fmt: skip

_EDGES = (2.0, 3.0, -3.0, 0.5, -0.5, -2.0)
_BELOW, _BELOW_IF_LARGE = 9, 256  # bounds of exponents of integers


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: `shape`, positive except for special values, or a number; exponent: `other`.

    Exponents of integers are 0 to 8, "large exponents" 0 to 255.
    """
    below = _BELOW_IF_LARGE if case.word("values") == "large exponents" else _BELOW
    base, exponent = binary_values(case, rng, draw=_base, other_draw=_exponent, edges=_EDGES)
    if not (exponent.is_floating_point() or (case.dtype is other_dtype(case) and case.dtype in FLOATS)):
        exponent = (exponent.long().abs() % below).to(exponent.dtype)
    if case.params["base"] == NO_SCALAR:
        return binary_arguments(case, base, exponent)
    number = case.params["base"]
    whole = (base.long().abs() % below).to(base.dtype)
    return number, base if base.is_floating_point() else whole


def reference(x: torch.Tensor | float, exponent: torch.Tensor | float) -> torch.Tensor:
    """The broadcast shape, computed in float64 or 64-bit integers."""
    left, right, kind = widened(x, exponent)
    return torch.pow(left, right).to(kind)


def eager(x: torch.Tensor | float, exponent: torch.Tensor | float) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.pow(x, exponent) if isinstance(x, torch.Tensor) else torch.pow(x, torch.as_tensor(exponent))


def tolerance(case: Case) -> Tolerance:
    """Error of exp2(exponent * log2(self)): a rounding times the binary exponent of the result; 16 are allowed."""
    return rounded(_result(case), terms=64)


def cost(case: Case) -> Cost:
    """20 operations per element."""
    if case.params["base"] == NO_SCALAR:
        return binary_cost(case, operations=20)
    return unary_cost(case, operations=20, result=_result(case))


def _base(x: torch.Tensor) -> torch.Tensor:
    """Positive, within four powers of two."""
    return torch.exp2(x.clamp(-2, 2))


def _exponent(x: torch.Tensor) -> torch.Tensor:
    """Between -4 and 4."""
    return x.clamp(-4, 4)


def _result(case: Case) -> DType:
    """By promotion; one of the two may be a number."""
    base = case.params["base"]
    return with_scalar(case.dtype, base) if isinstance(base, int | float) else binary_result(case)


PROBLEM = ProblemDefinition(
    name="aten::pow",
    entry="pow",
    signature="pow(self: Tensor | float, exponent: Tensor | float) -> Tensor",
    summary="Power: tensor^tensor, scalar^tensor, tensor^scalar",
    category=Category.POINTWISE_BINARY,
    second_oracle="numpy.power, in double precision",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
)
