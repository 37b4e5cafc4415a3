"""Softmax: y = exp(x - max(x)) / sum(exp(x - max(x))) along one dimension.

Any rank, any strides, a dimension of any length.  `half_to_float` requests a float32 answer for float16, which PyTorch
itself supports on a GPU only. A row that contains NaN or +inf, or only -inf, is entirely NaN.  float64 is outside of
the contract.

Overloads: _softmax (tested) and _softmax.out.
"""

from __future__ import annotations

import math
from functools import partial

from engine.model import Case, Category, Cost, DType, ProblemDefinition, Tier, Tolerance
from problems.kit import (
    BF16,
    F16,
    F32,
    FLOATS,
    Arguments,
    Layout,
    Special,
    cases_over,
    laid_out,
    mixed,
    rounded,
    special_rows,
    torch,
)

_over = partial(cases_over, dim=-1, layout=Layout.CONTIGUOUS, values="mixed", half_to_float=False)

CASES = (
    *_over(Tier.SMOKE, "{shape} {dtype}", shape=(7, 781), dtype=[F32, BF16]),
    *_over(Tier.SMOKE, "{shape} dim {dim} {dtype}", shape=(5, 33, 3), dim=1, dtype=F32),
    *_over(Tier.FULL, "{shape} {dtype}", shape=[(1, 1), (16, 2), (0, 5), (5, 0), (1000,), (3, 5, 4, 7)], dtype=F32),
    *_over(Tier.FULL, "{shape} {dtype}", shape=[(5, 127), (5, 128), (5, 129), (3, 1025), (2, 4097)], dtype=F32),
    *_over(Tier.FULL, "{shape} {dtype}", shape=(2, 4097), dtype=[F16, BF16]),
    *_over(Tier.FULL, "{shape} dim {dim} {dtype}", shape=(3, 13, 4), dim=[0, -2, 2], dtype=FLOATS),
    *_over(Tier.FULL, "{shape} {dtype} {layout}", shape=(13, 65), dtype=[F32, BF16],
           layout=[Layout.TRANSPOSED, Layout.STRIDED, Layout.EXPANDED, Layout.OFFSET]),
    *_over(Tier.FULL, "{shape} dim {dim} {dtype} {layout}", shape=(2, 3, 20, 2, 2), dim=2, dtype=F32,
           layout=Layout.IRREGULAR),
    *_over(Tier.FULL, "{shape} {dtype} {values}", shape=(9, 300), dtype=FLOATS, values=["large", "special"]),
    *_over(Tier.FULL, "{shape} {dtype} {values}", shape=(9, 300), dtype=F32, values="far below zero"),
    *_over(Tier.FULL, "{shape} dim {dim} {dtype} half to float", shape=(16, 200), dim=[0, 1], dtype=F16,
           half_to_float=True),
    *_over(Tier.BENCH, "{shape} {dtype}", shape=[(4096, 256), (4096, 781)], dtype=[F32, BF16]),
    *_over(Tier.BENCH, "{shape} dim {dim} {dtype}", shape=(200, 2560, 3), dim=1, dtype=F32),
)  # fmt: skip
_CENTRE = 1000.0
_ROWS = (
    Special.NAN, Special.ALL_NEGATIVE_INF, Special.INF, Special.BOTH_INF, Special.NEGATIVE_INF, Special.LARGE,
)  # fmt: skip


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """self: any shape; dim; half_to_float.

    "large" rows are about 1000, where exp overflows, those "far below zero" about -1000, where it vanishes.
    """
    x = mixed(case.shape("shape"), case.dtype, rng)
    if case.word("values") == "large":
        x = x + _CENTRE
    if case.word("values") == "far below zero":
        x = x - _CENTRE
    if case.word("values") == "special":
        x = special_rows(x, rng, rows=_ROWS)
    return laid_out(x, case.word("layout")), case.size("dim"), case.claim("half_to_float")


def reference(x: torch.Tensor, dim: int, half_to_float: bool) -> torch.Tensor:
    """The shape of x, computed in float64."""
    wide = x.double()
    powers = torch.exp(wide - wide.amax(dim, keepdim=True)) if x.shape[dim] else wide
    return (powers / powers.sum(dim, keepdim=True)).to(torch.float32 if half_to_float else x.dtype)


def eager(x: torch.Tensor, dim: int, half_to_float: bool) -> torch.Tensor:
    """PyTorch's operator, which supports half_to_float on a GPU only."""
    return torch.softmax(x, dim, dtype=torch.float32 if half_to_float else None)


def tolerance(case: Case) -> Tolerance:
    """Two roundings, and a sum over the dimension."""
    return rounded(_result(case), roundings=2, terms=case.shape("shape")[case.size("dim")])


def cost(case: Case) -> Cost:
    """Five operations per element: maximum, difference, exponential, sum, quotient."""
    elements = math.prod(case.shape("shape"))
    return Cost(
        flops=5 * elements, bytes_read=elements * case.dtype.bytes, bytes_written=elements * _result(case).bytes
    )


def _result(case: Case) -> DType:
    """The dtype of the answer."""
    return F32 if case.claim("half_to_float") else case.dtype


PROBLEM = ProblemDefinition(
    name="aten::_softmax",
    entry="_softmax",
    signature="_softmax(self: Tensor, dim: int, half_to_float: bool) -> Tensor",
    summary="Softmax along one dim (dim, half_to_float flag)",
    category=Category.NORMALISATION,
    second_oracle="PyTorch's _softmax, in every smoke and full case",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
)
