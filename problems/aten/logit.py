"""Log-odds: y = ln(z / (1 - z)), with z = x, or x clamped to eps and 1 - eps where eps is given.

Any rank, any strides.  Integers and booleans give float32.  Without eps 0 gives -inf, 1 gives inf, and numbers beyond
are NaN; with eps every number and both infinities are clamped.  NaN stays NaN.  eps is such that 1 - eps is a number of
the dtype of x.

Overloads: logit (tested) and logit.out.
"""

from __future__ import annotations

from engine.model import Case, Category, Cost, DType, ProblemDefinition, Tier, Tolerance
from problems.kit import F32, FLOATS, WHOLE, Arguments, Layout, cases_over, rounded, torch
from problems.kit.pointwise.unary import in_double, unary_cases, unary_cost, unary_values
from problems.kit.promotion import floating

CASES = (
    *unary_cases(dtype=[*FLOATS, DType.FLOAT64, *WHOLE]),
    *cases_over(Tier.FULL, "{shape} {dtype} eps {eps}", shape=(600,), dtype=FLOATS, eps=0.125,
                layout=Layout.CONTIGUOUS, values="usual"),
    *cases_over(Tier.FULL, "{shape} {dtype} eps {eps}", shape=(600,), dtype=F32, eps=0.001953125,
                layout=Layout.CONTIGUOUS, values="usual"),
    *cases_over(Tier.FULL, "{shape} {dtype} eps {eps} {values}", shape=(7, 33), dtype=FLOATS, eps=[0.125, 0.0],
                layout=Layout.CONTIGUOUS, values="special"),
)  # fmt: skip
_EDGES = (0.0, 1.0, 0.5, -0.5, 1.0078125, 0.99609375, 0.0009765625)


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: any shape, between 0 and 1; integers from -1 to 2; eps: None or a number from 0 to 0.5."""
    x = unary_values(case, rng, draw=_probability, edges=_EDGES, low=-1, high=3)
    return x, case.params.get("eps")


def reference(x: torch.Tensor, eps: float | None = None) -> torch.Tensor:
    """The shape of x, computed in float64."""

    def logit(wide: torch.Tensor) -> torch.Tensor:
        clamped = wide if eps is None else wide.clamp(eps, 1 - eps)
        return torch.log(clamped) - torch.log1p(-clamped)

    return in_double(logit, x)


def eager(x: torch.Tensor, eps: float | None = None) -> torch.Tensor:
    """PyTorch's operator."""
    return torch.logit(x, eps)


def tolerance(case: Case) -> Tolerance:
    """One rounding; near x = 1/2, where the quotient is about 1, its rounding is an absolute error of the logarithm.

    That error does not shrink with the logarithm, so the scale is at least 1.
    """
    honest = rounded(floating(case.dtype), roundings=3)
    absolute = honest.absolute + 4 * floating(case.dtype).epsilon
    return Tolerance(relative=honest.relative, absolute=absolute, least_scale=1.0)


def cost(case: Case) -> Cost:
    """10 operations per element."""
    return unary_cost(case, operations=10, result=floating(case.dtype))


def _probability(x: torch.Tensor) -> torch.Tensor:
    """Between 0 and 1; few values are within a rounding step of these limits."""
    return torch.sigmoid(x)


PROBLEM = ProblemDefinition(
    name="aten::logit",
    entry="logit",
    signature="logit(self: Tensor, eps: float | None = None) -> Tensor",
    summary="log(p/(1-p)) with optional eps clamp",
    category=Category.POINTWISE_UNARY,
    second_oracle="PyTorch's logit, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    cannot_reject={
        "infinities_clamped": "the answer is the same for all numbers beyond 1",
    },
)
