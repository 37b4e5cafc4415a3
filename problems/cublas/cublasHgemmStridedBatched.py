"""Batch of matrix products: C_b = alpha * op(A_b) @ op(B_b) + beta * C_b, column-major, with fixed strides.

transa and transb are "N", "T" or "C", upper or lower case; "C" is "T" for real numbers. op(A): (m, k), op(B): (k, n),
C: (m, n), column-major. A leading dimension is at least the number of rows, and at least 1; the rows beyond a matrix
are not read and do not change. Matrix b of A begins strideA * b elements into its buffer, B and C likewise; strideA and
strideB may be 0, for one matrix in the whole batch; the matrices of C do not overlap. batchCount is at least 0. Memory
between the matrices stays as it is. The buffers are dense, of float16, and do not overlap; they may begin at any
element of their storage. m, n and k are at least 0. alpha and beta are Python floats that float16 holds. Where alpha or
k is 0, A and B are not read, and where beta is 0, C is not: their content then, NaN included, does not influence the
answer. Elsewhere NaN and infinities follow IEEE arithmetic. Products and partial sums that overflow are outside of the
contract. Sums are carried in float32 or better; a sum, its product with alpha, beta * C and the answer may each be
rounded to float16. The routine of the library may carry the sums themselves in float16, which is not accepted.
Subnormal values may be flushed to zero.
"""
# ruff: noqa: N999 -- a problem's file has the operator's own name

from __future__ import annotations

from engine.model import Category, DType, ProblemDefinition
from problems.kit.blas import (
    gemm_cost,
    half_gemm_tolerance,
    strided_gemm_cases,
    strided_gemm_eager,
    strided_gemm_inputs,
    strided_gemm_reference,
)

CASES = strided_gemm_cases(dtype=DType.FLOAT16)

PROBLEM = ProblemDefinition(
    name="cublas::cublasHgemmStridedBatched",
    entry="cublasHgemmStridedBatched",
    signature=(
        "cublasHgemmStridedBatched(transa: str, transb: str, m: int, n: int, k: int, alpha: float, A: Tensor, "
        "lda: int, strideA: int, B: Tensor, ldb: int, strideB: int, beta: float, C: Tensor, ldc: int, "
        "strideC: int, batchCount: int) -> Tensor"
    ),
    summary="C_b = alpha*op(A_b)op(B_b) + beta*C_b, fixed strides",
    category=Category.BLAS3_GEMM,
    second_oracle="SciPy's BLAS routine gemm, in double precision",
    cases=CASES,
    make_inputs=strided_gemm_inputs,
    reference=strided_gemm_reference,
    eager=strided_gemm_eager,
    tolerance=half_gemm_tolerance,
    cost=gemm_cost,
    mutates=("C",),
)
