"""Sign: y = x / |x|, and a zero of either sign for x = 0.

Any rank, any strides; floats, integers, bool and complex numbers.  Infinities give 1 and -1.  NaN gives 0, as PyTorch's
comparisons with 0 do on every device; the special values of complex numbers are outside of the contract. Subnormal
values are outside of the contract: a device may flush them to 0.

Overloads: sgn (tested) and sgn.out.
"""

from __future__ import annotations

from engine.model import Case, Category, Cost, DType, ProblemDefinition, Tolerance
from problems.kit import EQUAL, FLOATS, WHOLE, Arguments, rounded, torch
from problems.kit.pointwise.unary import SUBNORMAL_FREE, unary_cases, unary_cost, unary_values

CASES = unary_cases(dtype=[*FLOATS, DType.FLOAT64, *WHOLE, DType.COMPLEX64])

_EDGES = (0.0, 1.0, -1.0)
_TINY = 2.0**-200  # 0 in float32


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: any shape, mixed magnitudes, tiny ones in float64; integers over the whole range of their dtype."""
    draw = _tiny if case.dtype is DType.FLOAT64 else None
    return (unary_values(case, rng, draw=draw, edges=_EDGES, special=SUBNORMAL_FREE),)


def _tiny(x: torch.Tensor) -> torch.Tensor:
    """Numbers that float32 rounds to 0."""
    return x * _TINY


def reference(x: torch.Tensor) -> torch.Tensor:
    """The shape of x."""
    return _sign(x)


def eager(x: torch.Tensor) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.sgn(x)


def tolerance(case: Case) -> Tolerance:
    """Bitwise equality, except for the quotient of complex numbers."""
    return rounded(case.dtype) if case.dtype.is_complex else EQUAL


def cost(case: Case) -> Cost:
    """One operation per element."""
    return unary_cost(case, operations=1)


def _sign(x: torch.Tensor) -> torch.Tensor:
    """By comparisons; complex numbers in complex128."""
    if not x.is_complex():
        return ((x > 0).long() - (x < 0).long()).to(x.dtype)
    wide = x.to(torch.complex128)
    return torch.where(x == 0, torch.zeros_like(wide), wide / wide.abs()).to(x.dtype)


PROBLEM = ProblemDefinition(
    name="aten::sgn",
    entry="sgn",
    signature="sgn(self: Tensor) -> Tensor",
    summary="Sign; of a complex number x / abs(x)",
    category=Category.POINTWISE_UNARY,
    second_oracle="mpmath with 40 digits",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    cannot_reject={
        "integers_in_single": "rounding a number does not change its sign",
        "nan_dropped": "NaN gives 0, as 0 does",
        "infinities_clamped": "the answer is 1 or -1 for the largest finite numbers, too",
        "bfloat16_arithmetic": "a number keeps its sign in every float dtype",
        "tensorfloat32_arithmetic": "a number keeps its sign in every float dtype",
    },
)
