"""Batch of matrix products: C_b = alpha * op(A_b) @ op(B_b) + beta * C_b, column-major, by pointers.

transa and transb are "N", "T" or "C", upper or lower case; "C" is "T" for real numbers. op(A): (m, k), op(B): (k, n),
C: (m, n), column-major. A leading dimension is at least the number of rows, and at least 1; the rows beyond a matrix
are not read and do not change. Aarray, Barray and Carray are batchCount addresses of buffers, as an int64 tensor;
batchCount is at least 1. A buffer may occur more than once if it is only read. Nothing is returned. The buffers are
dense, of float16, and do not overlap; they may begin at any element of their storage. m, n and k are at least 0. alpha
and beta are Python floats that float16 holds. Where alpha or k is 0, A and B are not read, and where beta is 0, C is
not: their content then, NaN included, does not influence the answer. Elsewhere NaN and infinities follow IEEE
arithmetic. Products and partial sums that overflow are outside of the contract. Sums are carried in float32 or better;
a sum, its product with alpha, beta * C and the answer may each be rounded to float16. The routine of the library may
carry the sums themselves in float16, which is not accepted. Subnormal values may be flushed to zero.
"""
# ruff: noqa: N999 -- a problem's file has the operator's own name

from __future__ import annotations

from engine.model import Category, DType, ProblemDefinition
from problems.kit.blas import (
    gemm_cost,
    half_gemm_tolerance,
    pointer_gemm_cases,
    pointer_gemm_eager,
    pointer_gemm_inputs,
    pointer_gemm_reference,
)

CASES = pointer_gemm_cases(dtype=DType.FLOAT16)

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
    tolerance=half_gemm_tolerance,
    cost=gemm_cost,
    mutates=("Carray",),
    returns=0,
)
