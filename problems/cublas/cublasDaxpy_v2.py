"""Scaled vector sum: y[i * incy] = alpha * x[i * incx] + y[i * incy] for i < n.

A vector with a negative increment is stored in reverse order, as BLAS defines it. The buffers are dense, of float64,
and do not overlap; they may begin at any element of their storage. n is at least 0. NaN and infinities follow IEEE
arithmetic. Outside of the contract are increments of 0, products alpha * x that overflow and, since the routine may or
may not read x then, NaN and infinities in x where alpha is 0.
"""
# ruff: noqa: N999 -- a problem's file has the operator's own name

from __future__ import annotations

from engine.model import Case, Category, DType, ProblemDefinition, Tier
from problems.kit import Arguments, Layout, scattered, torch
from problems.kit.blas import (
    SPECIAL,
    axpy_cost,
    axpy_eager,
    axpy_reference,
    axpy_tolerance,
    case_table,
    placed,
    vector_buffer,
)

_rows = case_table("{n} alpha {alpha} inc {incx} {incy}", dtype=DType.FLOAT64, alpha=0.5, incx=1, incy=1)
CASES = (
    *_rows(Tier.SMOKE, n=1024, alpha=-0.999),
    *_rows(Tier.SMOKE, n=497, alpha=0.1, incx=2, incy=3),
    *_rows(Tier.FULL, n=[0, 1, 32, 71, 127, 128, 129], alpha=100.001),
    *_rows(Tier.FULL, n=[1023, 1025, 4113], alpha=0.1),
    *_rows(Tier.FULL, n=160, alpha=[0.0, 1.0, 1e300, -1e-300], incy=2),
    *_rows(Tier.FULL, n=[71, 1025], incx=[-2, 3], incy=[1, -3]),
    *_rows(Tier.FULL, n=33, incx=-37, incy=-41),
    *_rows(Tier.FULL, n=20001),
    *_rows(Tier.FULL, n=140, alpha=1.0, incx=2, incy=3, values=SPECIAL),
    *_rows(Tier.FULL, n=1025, incx=-2, layout=Layout.OFFSET),
    *_rows(Tier.BENCH, n=5333),
    *_rows(Tier.BENCH, n=1 << 24),
    *_rows(Tier.BENCH, n=1 << 20, incx=2, incy=3),
)


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """x, y: flat buffers, longer than needed; "special" has special values at random places of both."""
    n, incx, incy = case.size("n"), case.size("incx"), case.size("incy")
    (x, _), (y, _) = (vector_buffer(case, n, increment, rng) for increment in (incx, incy))
    if case.word("values") == SPECIAL:
        x, y = scattered(x, rng, each=9), scattered(y, rng, each=9)
    x, y = placed(case, x, y)
    return n, case.number("alpha"), x, incx, y, incy


PROBLEM = ProblemDefinition(
    name="cublas::cublasDaxpy_v2",
    entry="cublasDaxpy_v2",
    signature="cublasDaxpy_v2(n: int, alpha: float, x: Tensor, incx: int, y: Tensor, incy: int) -> Tensor",
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
