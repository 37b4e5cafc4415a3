"""Polygamma: y = the derivative of order n of digamma(x), the logarithmic derivative of the gamma function.

y = (-1)^(n + 1) * n! * (sum over k of 1 / (x + k)^(n + 1)) for n > 0.  Any rank, any strides, n from 0 to 3.  Integers
and booleans give float32.  Numbers of both signs; NaN stays NaN, and inf gives inf for n = 0 and 0 for n = 1.  The
poles at 0 and the negative whole numbers, numbers below -3 for n > 0, inf for n > 1 and -inf are outside of the
contract.  float64 is outside of the contract.

Overloads: polygamma (tested) and polygamma.out.
"""

from __future__ import annotations

import math
from functools import partial

from engine.model import Case, Category, Cost, DType, ProblemDefinition, Tier, Tolerance
from problems.kit import BF16, F16, F32, FLOATS, Arguments, Layout, Special, cases_over, rounded, torch
from problems.kit.pointwise.unary import in_double, unary_cost, unary_values
from problems.kit.promotion import floating

_over = partial(cases_over, n=0, layout=Layout.CONTIGUOUS, values="usual")

CASES = (
    *_over(Tier.SMOKE, "{n} {shape} {dtype}", n=[0, 1], shape=(300,), dtype=F32),
    *_over(Tier.SMOKE, "{n} {shape} {dtype} {layout}", shape=(9, 33), dtype=BF16, layout=Layout.TRANSPOSED),
    *_over(Tier.FULL, "{n} {shape} {dtype}", n=1, shape=[(), (1,), (0,), (127,), (128,), (129,)], dtype=F32),
    *_over(Tier.FULL, "{n} {shape} {dtype}", n=1, shape=[(2500,), (3, 5, 4, 7)], dtype=F32),
    *_over(Tier.FULL, "{n} {shape} {dtype}", n=[0, 1, 2, 3], shape=(4, 7, 31), dtype=FLOATS),
    *_over(Tier.FULL, "{n} {shape} {dtype} {layout}", n=[0, 2], shape=(13, 65), dtype=F32,
           layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.EXPANDED, Layout.OFFSET]),
    *_over(Tier.FULL, "{n} {shape} {dtype} {layout}", n=1, shape=(2, 3, 4, 5, 2), dtype=F16, layout=Layout.IRREGULAR),
    *_over(Tier.FULL, "{n} {shape} {dtype} {values}", n=[0, 1, 2, 3], shape=(300,), dtype=F32, values="large"),
    *_over(Tier.FULL, "{n} {shape} {dtype} {values}", n=[0, 1], shape=(7, 33), dtype=FLOATS, values="special"),
    *_over(Tier.FULL, "{n} {shape} {dtype}", n=[0, 1, 2], shape=(100,), dtype=[DType.INT32, DType.INT64]),
    *_over(Tier.BENCH, "{n} {shape} {dtype}", n=[0, 1], shape=(1024, 1024), dtype=F32),
    *_over(Tier.BENCH, "{n} {shape} {dtype}", n=2, shape=(16, 128, 64, 60), dtype=F32),
)  # fmt: skip
_SPECIAL = (Special.NAN, Special.INF)
_EDGES = (1.0, 2.0, 0.5, 10.0, 100.0, 6.0)


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """n, self: any shape, half from 0.25 up, half negative and at least 1/4 away from a pole; integers from 1 to 40.

    "large" numbers are from 10 up, where the answers are small and only the series contributes.
    """
    draw = _both_sides if case.size("n") == 0 else _above_minus_three
    if case.word("values") == "large":
        draw = _from_ten
    return case.size("n"), unary_values(case, rng, draw=draw, edges=_EDGES, special=_SPECIAL, low=1, high=41)


def reference(n: int, x: torch.Tensor) -> torch.Tensor:
    """The shape of x, computed in float64."""
    return in_double(partial(_derivative, n), x)


def eager(n: int, x: torch.Tensor) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.polygamma(n, x)


def tolerance(case: Case) -> Tolerance:
    """A recurrence of ten terms, then a series of about as many; for negative numbers a difference.

    For n > 0 a reflection takes the sine of pi x.  Above -3, the rounding of pi and of the product to float32 gives it
    an error of 7.6e-7, and its square twice that: 13 units in the last place, which corresponds to 52 terms.
    """
    return rounded(floating(case.dtype), roundings=3, terms=20 if case.size("n") == 0 else 72)


def cost(case: Case) -> Cost:
    """About 60 operations per element: a recurrence up to 6 or 10, and a series."""
    return unary_cost(case, operations=60, result=floating(case.dtype))


def _derivative(n: int, x: torch.Tensor) -> torch.Tensor:
    """The sum in the first line is the Hurwitz zeta function, which PyTorch provides for finite numbers."""
    if n == 0:
        digamma: torch.Tensor = torch.special.digamma(x)
        return digamma
    series = (-1) ** (n + 1) * math.factorial(n) * torch.special.zeta(n + 1.0, x)
    return torch.where(x == math.inf, 0.0, series)


def _both_sides(x: torch.Tensor) -> torch.Tensor:
    """From 0.25 up, or between 1/4 and 3/4 below a non-positive integer."""
    below = -torch.floor(x.abs()) - 0.25 - 0.5 * (x.abs() - torch.floor(x.abs()))
    return torch.where(x > 0, x + 0.25, below)


def _above_minus_three(x: torch.Tensor) -> torch.Tensor:
    """Like `_both_sides`, but at least -2.75, where a product of x and pi in float32 keeps the fraction of x."""
    return _both_sides(torch.where(x < 0, x.fmod(3), x))


def _from_ten(x: torch.Tensor) -> torch.Tensor:
    """From 10 to several hundred."""
    return 10 + 20 * x.abs()


PROBLEM = ProblemDefinition(
    name="aten::polygamma",
    entry="polygamma",
    signature="polygamma(n: int, self: Tensor) -> Tensor",
    summary="n-th derivative of digamma",
    category=Category.SPECIAL_FUNCTION,
    second_oracle="PyTorch's polygamma, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
)
