"""Batch of matrix-vector products: y_b = alpha * op(A_b) @ x_b + beta * y_b, by pointers.

trans is "N", "T" (transposed) or "C" (conjugated and transposed). A: (m, n), column-major; x has n elements and y m for
"N", x m and y n otherwise. A leading dimension is at least the number of rows, and at least 1; the rows beyond a matrix
are not read. Increments are not 0; a vector with a negative increment is stored in reverse order, as BLAS defines it.
Memory between the elements of y stays as it is. Aarray, xarray and yarray are batchCount addresses of buffers, as an
int64 tensor; batchCount is at least 1. A buffer may occur more than once if it is only read. Nothing is returned.
Sizes, leading dimensions and increments may need 64 bits. The buffers are dense, of complex64, and do not overlap; they
may begin at any element of their storage. m and n are at least 0; if one of them is 0, y is unchanged, as BLAS defines
it. alpha and beta are Python complex numbers. Where alpha is 0, A and x are not read, and where beta is 0, y is not:
their content then, NaN included, does not influence the answer. NaN follows IEEE arithmetic; the result of infinities
in a complex product is unspecified. Products and partial sums that overflow are outside of the contract. Sums are
carried in float32 or better; TensorFloat-32 is not float32. Subnormal values may be flushed to zero.
"""
# ruff: noqa: N999 -- a problem's file has the operator's own name

from __future__ import annotations

from engine.model import Category, DType, ProblemDefinition
from problems.kit.blas import (
    gemv_cost,
    gemv_tolerance,
    pointer_gemv_cases,
    pointer_gemv_eager,
    pointer_gemv_inputs,
    pointer_gemv_reference,
)

CASES = pointer_gemv_cases(dtype=DType.COMPLEX64)

PROBLEM = ProblemDefinition(
    name="cublas::cublasCgemvBatched_64",
    entry="cublasCgemvBatched_64",
    signature=(
        "cublasCgemvBatched_64(trans: str, m: int, n: int, alpha: complex, Aarray: Tensor, lda: int, xarray: "
        "Tensor, incx: int, beta: complex, yarray: Tensor, incy: int, batchCount: int) -> None"
    ),
    summary="y_b = alpha*op(A_b)x_b + beta*y_b by pointers, 64-bit sizes",
    category=Category.BLAS2_GEMV,
    second_oracle="SciPy's BLAS routine gemv, in double precision",
    cases=CASES,
    make_inputs=pointer_gemv_inputs,
    reference=pointer_gemv_reference,
    eager=pointer_gemv_eager,
    tolerance=gemv_tolerance,
    cost=gemv_cost,
    mutates=("yarray",),
    returns=0,
    cannot_reject={"infinities_clamped": "the result of infinities in a complex product is unspecified"},
)
