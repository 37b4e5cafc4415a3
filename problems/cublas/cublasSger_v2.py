"""Rank-one update: A = alpha * x @ y^T + A, column-major.

x: (m,), y: (n,), A: (m, n), column-major. Increments are not 0; a vector with a negative increment is stored in reverse
order, as BLAS defines it. A leading dimension is at least the number of rows, and at least 1; the rows beyond the
matrix do not change. The buffers are dense, of float32, and do not overlap; they may begin at any element of their
storage. m and n are at least 0. alpha is a Python float. Where it is 0, x and y are not read and A stays as it is.
Elsewhere NaN and infinities follow IEEE arithmetic. Products that overflow are outside of the contract. Subnormal
values may be flushed to zero.
"""
# ruff: noqa: N999 -- a problem's file has the operator's own name

from __future__ import annotations

from engine.model import Category, DType, ProblemDefinition
from problems.kit.blas import ger_cases, ger_cost, ger_eager, ger_inputs, ger_reference, ger_tolerance

CASES = ger_cases(dtype=DType.FLOAT32)

PROBLEM = ProblemDefinition(
    name="cublas::cublasSger_v2",
    entry="cublasSger_v2",
    signature=(
        "cublasSger_v2(m: int, n: int, alpha: float, x: Tensor, incx: int, y: Tensor, incy: int, A: Tensor, "
        "lda: int) -> Tensor"
    ),
    summary="A += alpha*x*y^T",
    category=Category.BLAS2_RANK,
    second_oracle="SciPy's BLAS routine ger, in double precision",
    cases=CASES,
    make_inputs=ger_inputs,
    reference=ger_reference,
    eager=ger_eager,
    tolerance=ger_tolerance,
    cost=ger_cost,
    mutates=("A",),
)
