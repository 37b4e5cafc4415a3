"""Symmetric rank-k update: C = alpha * op(A) @ op(A)^T + beta * C on one triangle, column-major.

uplo is "L" or "U": the triangle of C that is read and written; the other stays as it is. trans is "N" for op(A) = A,
(n, k), or "T" for its transpose. All matrices are column-major. A leading dimension is at least the number of rows, and
at least 1; the rows beyond a matrix are not read and do not change. The buffers are dense, of float32, and do not
overlap; they may begin at any element of their storage. n and k are at least 0. alpha and beta are Python floats. Where
alpha or k is 0, A is not read, and where beta is 0, C is not: their content then, NaN included, does not influence the
answer. Elsewhere NaN and infinities follow IEEE arithmetic. Products and partial sums that overflow are outside of the
contract. Sums are carried in float32 or better; TensorFloat-32 is not float32. Subnormal values may be flushed to zero.
"""
# ruff: noqa: N999 -- a problem's file has the operator's own name

from __future__ import annotations

from engine.model import Category, DType, ProblemDefinition
from problems.kit.blas import syrk_cases, syrk_cost, syrk_eager, syrk_inputs, syrk_reference, syrk_tolerance

CASES = syrk_cases(dtype=DType.FLOAT32)

PROBLEM = ProblemDefinition(
    name="cublas::cublasSsyrk_v2",
    entry="cublasSsyrk_v2",
    signature=(
        "cublasSsyrk_v2(uplo: str, trans: str, n: int, k: int, alpha: float, A: Tensor, lda: int, beta: "
        "float, C: Tensor, ldc: int) -> Tensor"
    ),
    summary="C = alpha*op(A)op(A)^T + beta*C, one triangle",
    category=Category.BLAS3_RANK,
    second_oracle="SciPy's BLAS routine syrk, in double precision",
    cases=CASES,
    make_inputs=syrk_inputs,
    reference=syrk_reference,
    eager=syrk_eager,
    tolerance=syrk_tolerance,
    cost=syrk_cost,
    mutates=("C",),
)
