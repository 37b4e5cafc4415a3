"""Triangular solve for a matrix: X = alpha * op(A)^-1 @ B, or X = alpha * B @ op(A)^-1; B becomes X.

side is "L" for op(A) X = alpha * B, with A: (m, m), or "R" for X op(A) = alpha * B, with A: (n, n). uplo is "L" or "U":
the triangle of A that is read. diag is "N", or "U" for a diagonal of ones, which is not read. trans is "N" or "T". B:
(m, n). All matrices are column-major. A leading dimension is at least the number of rows, and at least 1; the rows
beyond a matrix are not read and do not change. The buffers are dense, of float32, and do not overlap; they may begin at
any element of their storage. m and n are at least 0. alpha is a Python float; where it is 0, A and B are not read and X
is 0. The matrix has no zero on its diagonal and is well-conditioned. A NaN in the first element that is solved for
makes the whole column of X NaN, for side R the whole row; the effect of other NaN and infinities depends on the
algorithm and is outside of the contract. Sums are carried in float32 or better; TensorFloat-32 is not float32.
Subnormal values may be flushed to zero.
"""
# ruff: noqa: N999 -- a problem's file has the operator's own name

from __future__ import annotations

from engine.model import Case, Category, DType, ProblemDefinition
from problems.kit import Arguments, torch
from problems.kit.blas import (
    SOLVES_LEAVE_OPEN,
    placed,
    solve_cost,
    solve_tolerance,
    trsm_buffers,
    trsm_cases,
    trsm_eager,
    trsm_reference,
)

CASES = trsm_cases("{side}{uplo}{trans}{diag} {m}x{n}", dtype=DType.FLOAT32)


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """A, B: flat column-major buffers; one triangle of A is read.

    In "unread nan" the other triangle, the padding of A and a diagonal of ones are NaN; in "nan first" the first solved
    element of one right-hand side is NaN; in "nothing to read", where alpha is 0, A and B are NaN.
    """
    (a, lda, _), (b, ldb, _) = trsm_buffers(case, rng)
    a, b = placed(case, a, b)
    words = (case.word(name) for name in ("side", "uplo", "trans", "diag"))
    return *words, case.size("m"), case.size("n"), case.number("alpha"), a, lda, b, ldb


PROBLEM = ProblemDefinition(
    name="cublas::cublasStrsm_v2",
    entry="cublasStrsm_v2",
    signature=(
        "cublasStrsm_v2(side: str, uplo: str, trans: str, diag: str, m: int, n: int, alpha: float, A: Tensor, "
        "lda: int, B: Tensor, ldb: int) -> Tensor"
    ),
    summary="op(A)X = alpha*B or X op(A) = alpha*B",
    category=Category.BLAS3_TRSM,
    second_oracle="SciPy's BLAS routine trsm, in double precision",
    cases=CASES,
    make_inputs=make_inputs,
    reference=trsm_reference,
    eager=trsm_eager,
    tolerance=solve_tolerance,
    cost=solve_cost,
    mutates=("B",),
    cannot_reject=SOLVES_LEAVE_OPEN,
    structured=("A",),
)
