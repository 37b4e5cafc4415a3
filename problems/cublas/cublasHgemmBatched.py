"""Batch of matrix products: C_b = alpha * op(A_b) @ op(B_b) + beta * C_b, column-major, by pointers.

transa and transb are "N", "T" or "C", upper or lower case; "C" is "T" for real numbers. op(A): (m, k), op(B): (k, n),
C: (m, n), column-major. A leading dimension is at least the number of rows, and at least 1; the rows beyond a matrix
are not read and do not change. Aarray, Barray and Carray are batchCount addresses of buffers, as an int64 tensor;
batchCount is at least 1. A buffer may occur more than once if it is only read. Nothing is returned. The buffers are
dense, of float16, and do not overlap; they may begin at any element of their storage. m, n and k are at least 0. alpha
and beta are Python floats that float16 holds. Where alpha or k is 0, A and B are not read, and where beta is 0, C is
not: their content then, NaN included, does not influence the answer. Elsewhere NaN and infinities follow IEEE
arithmetic. Products and partial sums that overflow are outside of the contract. Sums, and their products with alpha and
beta, are carried in float32 or better and rounded once; the routine of the library may carry them in float16, which is
not accepted. Subnormal values may be flushed to zero.
"""
# ruff: noqa: N999 -- a problem's file has the operator's own name

from __future__ import annotations

from engine.model import Case, Category, DType, ProblemDefinition, Tolerance
from problems.kit.blas import (
    gemm_cost,
    gemm_tolerance,
    pointer_gemm_cases,
    pointer_gemm_eager,
    pointer_gemm_inputs,
    pointer_gemm_reference,
)

CASES = pointer_gemm_cases(dtype=DType.FLOAT16)


def tolerance(case: Case) -> Tolerance:
    """Sums over K and the sum with C, rounded once: eager takes up to 1 / 2 of it.

    The expected value x is rounded too.  Where a sum in float32 is beside the middle between two float16 numbers, a
    correct answer is one unit away: up to 2 ** -10 of x, where 2 ** -9 of x and 2 ** -11 of the root mean square r are
    allowed.  That is 1 / (2 + r / 2x) of the tolerance, for every order of the sum; 1 / 2.7 and 1 / 3.8 were measured
    on two processors.
    """
    return gemm_tolerance(case)


PROBLEM = ProblemDefinition(
    name="cublas::cublasHgemmBatched",
    entry="cublasHgemmBatched",
    signature=(
        "cublasHgemmBatched(transa: str, transb: str, m: int, n: int, k: int, alpha: float, Aarray: Tensor, "
        "lda: int, Barray: Tensor, ldb: int, beta: float, Carray: Tensor, ldc: int, batchCount: int) -> "
        "None"
    ),
    summary="C_b = alpha*op(A_b)op(B_b) + beta*C_b by pointers",
    category=Category.BLAS3_GEMM,
    second_oracle="SciPy's BLAS routine gemm, in double precision",
    cases=CASES,
    make_inputs=pointer_gemm_inputs,
    reference=pointer_gemm_reference,
    eager=pointer_gemm_eager,
    tolerance=tolerance,
    cost=gemm_cost,
    mutates=("Carray",),
    returns=0,
)
