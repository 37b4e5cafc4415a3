"""Matrix product: C = alpha * op(A) @ op(B) + beta * C, complex, column-major.

transa and transb are "N", "T" (transposed) or "C" (conjugated and transposed), upper or lower case. op(A): (m, k),
op(B): (k, n), C: (m, n), column-major. A leading dimension is at least the number of rows, and at least 1; the rows
beyond a matrix are not read and do not change. The buffers are dense, of complex64, and do not overlap; they may begin
at any element of their storage. m, n and k are at least 0. alpha and beta are Python complex numbers. Where alpha or k
is 0, A and B are not read, and where beta is 0, C is not: their content then, NaN included, does not influence the
answer. NaN follows IEEE arithmetic; the result of infinities in a complex product is unspecified. Products and partial
sums that overflow are outside of the contract. Sums are carried in float32 or better; TensorFloat-32 is not float32.
Subnormal values may be flushed to zero.
"""
# ruff: noqa: N999 -- a problem's file has the operator's own name

from __future__ import annotations

from engine.model import Category, DType, ProblemDefinition
from problems.kit.blas import gemm_cases, gemm_cost, gemm_eager, gemm_inputs, gemm_reference, gemm_tolerance

CASES = gemm_cases(dtype=DType.COMPLEX64)

PROBLEM = ProblemDefinition(
    name="cublas::cublasCgemm_v2",
    entry="cublasCgemm_v2",
    signature=(
        "cublasCgemm_v2(transa: str, transb: str, m: int, n: int, k: int, alpha: complex, A: Tensor, lda: "
        "int, B: Tensor, ldb: int, beta: complex, C: Tensor, ldc: int) -> Tensor"
    ),
    summary="C = alpha*op(A)op(B) + beta*C",
    category=Category.BLAS3_GEMM,
    second_oracle="SciPy's BLAS routine gemm, in double precision",
    cases=CASES,
    make_inputs=gemm_inputs,
    reference=gemm_reference,
    eager=gemm_eager,
    tolerance=gemm_tolerance,
    cost=gemm_cost,
    mutates=("C",),
    cannot_reject={"infinities_clamped": "the result of infinities in a complex product is unspecified"},
)
