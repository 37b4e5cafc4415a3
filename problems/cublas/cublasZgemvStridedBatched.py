"""Batch of matrix-vector products: y_b = alpha * op(A_b) @ x_b + beta * y_b, with fixed strides.

trans is "N", "T" (transposed) or "C" (conjugated and transposed). A: (m, n), column-major; x has n elements and y m for
"N", x m and y n otherwise. A leading dimension is at least the number of rows, and at least 1; the rows beyond a matrix
are not read. Increments are not 0; a vector with a negative increment is stored in reverse order, as BLAS defines it.
Memory between the elements of y stays as it is. Matrix b of A begins strideA * b elements into its buffer, x and y
likewise; strideA may be 0, for one matrix in the whole batch. batchCount is at least 0. The buffers are dense, of
complex128, and do not overlap; they may begin at any element of their storage. m and n are at least 0; if one of them
is 0, y is unchanged, as BLAS defines it. alpha and beta are Python complex numbers. Where alpha is 0, A and x are not
read, and where beta is 0, y is not: their content then, NaN included, does not influence the answer. NaN follows IEEE
arithmetic; the result of infinities in a complex product is unspecified. Products and partial sums that overflow are
outside of the contract. Sums are carried in float64. Subnormal values may be flushed to zero.
"""
# ruff: noqa: N999 -- a problem's file has the operator's own name

from __future__ import annotations

from engine.model import Category, DType, ProblemDefinition
from problems.kit.blas import (
    gemv_cost,
    gemv_tolerance,
    strided_gemv_cases,
    strided_gemv_eager,
    strided_gemv_inputs,
    strided_gemv_reference,
)

CASES = strided_gemv_cases(dtype=DType.COMPLEX128)

PROBLEM = ProblemDefinition(
    name="cublas::cublasZgemvStridedBatched",
    entry="cublasZgemvStridedBatched",
    signature=(
        "cublasZgemvStridedBatched(trans: str, m: int, n: int, alpha: complex, A: Tensor, lda: int, strideA: "
        "int, x: Tensor, incx: int, stridex: int, beta: complex, y: Tensor, incy: int, stridey: int, "
        "batchCount: int) -> Tensor"
    ),
    summary="y_b = alpha*op(A_b)x_b + beta*y_b, fixed strides",
    category=Category.BLAS2_GEMV,
    second_oracle="SciPy's BLAS routine gemv, in double precision",
    cases=CASES,
    make_inputs=strided_gemv_inputs,
    reference=strided_gemv_reference,
    eager=strided_gemv_eager,
    tolerance=gemv_tolerance,
    cost=gemv_cost,
    mutates=("y",),
    cannot_reject={"infinities_clamped": "the result of infinities in a complex product is unspecified"},
)
