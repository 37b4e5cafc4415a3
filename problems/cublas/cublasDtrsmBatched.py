"""Batch of triangular solves: X_b = alpha * op(A_b)^-1 @ B_b, or alpha * B_b @ op(A_b)^-1, by pointers.

side is "L" for op(A) X = alpha * B, with A: (m, m), or "R" for X op(A) = alpha * B, with A: (n, n); X takes the place
of B. uplo is "L" or "U": the triangle of each A that is read. diag is "N", or "U" for a diagonal of ones, which is not
read. trans is "N" or "T". B: (m, n). All matrices are column-major. A leading dimension is at least the number of rows,
and at least 1; the rows beyond a matrix are not read and do not change. Aarray and Barray are batchCount addresses of
buffers, as an int64 tensor; batchCount is at least 1. A buffer may occur more than once if it is only read. Nothing is
returned. The buffers are dense, of float64, and do not overlap; they may begin at any element of their storage. m and n
are at least 0. alpha is a Python float; where it is 0, A and B are not read and X is 0. A has no zero on its diagonal
and is well-conditioned. A NaN in the first element that is solved for makes the whole column of X NaN, for side R the
whole row; the effect of other NaN and infinities depends on the algorithm and is outside of the contract. Sums are
carried in float64.
"""
# ruff: noqa: N999 -- a problem's file has the operator's own name

from __future__ import annotations

from engine.model import Category, DType, ProblemDefinition
from problems.kit.blas import (
    SOLVES_LEAVE_OPEN,
    pointer_trsm_eager,
    pointer_trsm_inputs,
    pointer_trsm_reference,
    solve_cost,
    solve_tolerance,
    trsm_cases,
)

CASES = trsm_cases("{batch}x {side}{uplo}{trans}{diag} {m}x{n}", dtype=DType.FLOAT64, batch=2)

PROBLEM = ProblemDefinition(
    name="cublas::cublasDtrsmBatched",
    entry="cublasDtrsmBatched",
    signature=(
        "cublasDtrsmBatched(side: str, uplo: str, trans: str, diag: str, m: int, n: int, alpha: float, "
        "Aarray: Tensor, lda: int, Barray: Tensor, ldb: int, batchCount: int) -> None"
    ),
    summary="op(A_b)X_b = alpha*B_b by pointers",
    category=Category.BLAS3_TRSM,
    second_oracle="SciPy's BLAS routine trsm, in double precision",
    cases=CASES,
    make_inputs=pointer_trsm_inputs,
    reference=pointer_trsm_reference,
    eager=pointer_trsm_eager,
    tolerance=solve_tolerance,
    cost=solve_cost,
    mutates=("Barray",),
    returns=0,
    cannot_reject=SOLVES_LEAVE_OPEN,
)
