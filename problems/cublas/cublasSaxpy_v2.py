# ruff: noqa: N999 -- a problem's file has the operator's own name
"""Scaled vector sum: y[i * incy] = alpha * x[i * incx] + y[i * incy] for i < n.

A vector with a negative increment is stored in reverse order, as BLAS defines it; with incx = 0 alpha times its single
element is added to all elements of y.  The buffers are dense, of float32, and do not overlap; they may begin at any
element of their storage.  n is at least 0.  NaN and infinities follow IEEE arithmetic.  Outside of the contract are
incy = 0, products alpha * x that overflow and, since the routine may or may not read x then, NaN and infinities in x
where alpha is 0.  Subnormal values may be flushed to zero.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Category, ProblemDefinition, Tier
from problems.kit import F32, Arguments, Layout, cases_over, laid_out, normal, special_pairs, torch
from problems.kit.blas import axpy_cost, axpy_eager, axpy_reference, axpy_tolerance, vector_span

_over = partial(cases_over, dtype=F32, alpha=0.5, incx=1, incy=1, tail=7, values="normal", layout=Layout.CONTIGUOUS)
_PAIR_ROWS = 10
_LABEL = "{n} alpha {alpha} inc {incx} {incy}"

CASES = (
    *_over(Tier.SMOKE, _LABEL, n=1024, alpha=-0.999),
    *_over(Tier.SMOKE, _LABEL, n=497, incx=2, incy=3),
    *_over(Tier.FULL, _LABEL, n=[0, 1, 32, 71, 127, 128, 129]),
    *_over(Tier.FULL, _LABEL, n=[1023, 1025, 4096, 4113, 5333], alpha=100.001),
    *_over(Tier.FULL, _LABEL, n=160, alpha=[0.0, 1.0, 0.001, -111.999], incy=2),
    *_over(Tier.FULL, _LABEL, n=1025, alpha=-0.5, incx=[1, 2, 3], incy=[1, 2, 3]),
    *_over(Tier.FULL, _LABEL, n=300, incx=[-2, 1], incy=[-1, 3, -3]),
    *_over(Tier.FULL, f"{_LABEL} tail {{tail}}", n=[129, 1025], incx=[1, -3], incy=[1, 2], tail=0),
    *_over(Tier.FULL, _LABEL, n=131, incx=[0, -37], incy=-41, tail=140),
    *_over(Tier.FULL, _LABEL, n=66001),
    *_over(Tier.FULL, _LABEL, n=131, alpha=[1e30, -1e-30]),
    *_over(Tier.FULL, f"{_LABEL} {{values}}", n=140, alpha=1.0, incx=2, incy=3, values="special"),
    *_over(Tier.FULL, f"{_LABEL} {{values}}", n=140, alpha=0.0, values="special y"),
    *_over(Tier.FULL, f"{_LABEL} both {{layout}}", n=1025, incx=-2, layout=Layout.OFFSET),
    *_over(Tier.BENCH, _LABEL, n=5333),
    *_over(Tier.BENCH, _LABEL, n=1 << 24, incx=1, incy=1),
    *_over(Tier.BENCH, _LABEL, n=1 << 20, incx=2, incy=3),
)


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """x, y: flat buffers, `tail` longer than needed; memory between and after the elements must not change.

    In "special" every special value of x is paired with every one of y; in "special y" x has no special values.
    """
    n, incx, incy, values = case.size("n"), case.size("incx"), case.size("incy"), case.word("values")
    spans = (vector_span(n, increment) for increment in (incx, incy))
    x, y = (normal((span + case.size("tail"),), F32, rng) for span in spans)
    if values != "normal":
        elements = x[: n * abs(incx) : abs(incx)], y[: n * abs(incy) : abs(incy)]
        pairs = special_pairs(*(part.reshape(_PAIR_ROWS, -1) for part in elements))
        for part, special in zip(elements, pairs, strict=True):
            if values == "special" or part is elements[1]:
                part.copy_(special.flatten())
    x, y = (laid_out(buffer, case.word("layout")) for buffer in (x, y))
    return n, case.number("alpha"), x, incx, y, incy


PROBLEM = ProblemDefinition(
    name="cublas::cublasSaxpy_v2",
    entry="cublasSaxpy_v2",
    signature="cublasSaxpy_v2(n: int, alpha: float, x: Tensor, incx: int, y: Tensor, incy: int) -> Tensor",
    summary="y += alpha*x",
    category=Category.BLAS1,
    second_oracle="SciPy's BLAS routine axpy, in double precision",
    cases=CASES,
    make_inputs=make_inputs,
    reference=axpy_reference,
    eager=axpy_eager,
    tolerance=axpy_tolerance,
    cost=axpy_cost,
    mutates=("y",),
)
