"""Symmetric rank-k update: C = alpha * op(A) @ op(A)^T + beta * C on one triangle, complex, types given.

uplo is "L" or "U": the triangle of C that is read and written; the other stays as it is. trans is "N" for op(A) = A,
(n, k), or "T" for its transpose. A is not conjugated: "C" is outside of the contract. Atype and Ctype are 4, the number
of complex64 (CUDA_C_32F) in cudaDataType; other types are outside of the contract. All matrices are column-major. A
leading dimension is at least the number of rows, and at least 1; the rows beyond a matrix are not read and do not
change. The buffers are dense, of complex64, and do not overlap; they may begin at any element of their storage. n and k
are at least 0. alpha and beta are Python complex numbers. Where alpha or k is 0, A is not read, and where beta is 0, C
is not: their content then, NaN included, does not influence the answer. NaN follows IEEE arithmetic; the result of
infinities in a complex product is unspecified. Products and partial sums that overflow are outside of the contract.
Sums are carried in float32 or better; TensorFloat-32 is not float32. Subnormal values may be flushed to zero.
"""
# ruff: noqa: N999 -- a problem's file has the operator's own name

from __future__ import annotations

from engine.model import Case, Category, DType, ProblemDefinition
from problems.kit import Arguments, torch
from problems.kit.blas import syrk_cases, syrk_cost, syrk_eager, syrk_inputs, syrk_reference, syrk_tolerance

CASES = syrk_cases(dtype=DType.COMPLEX64)
_COMPLEX64 = 4  # CUDA_C_32F in cudaDataType


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """As for the update without type arguments; both are complex64."""
    *front, a, lda, beta, c, ldc = syrk_inputs(case, rng)
    return *front, a, _COMPLEX64, lda, beta, c, _COMPLEX64, ldc


def reference(
    uplo: str, trans: str, n: int, k: int, alpha: complex, a: torch.Tensor, atype: int, lda: int, beta: complex,
    c: torch.Tensor, ctype: int, ldc: int,
) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
    """The final C, as the returned tensor and as the argument; computed in complex128."""
    return syrk_reference(uplo, trans, n, k, alpha, a, lda, beta, c, ldc)


def eager(
    uplo: str, trans: str, n: int, k: int, alpha: complex, a: torch.Tensor, atype: int, lda: int, beta: complex,
    c: torch.Tensor, ctype: int, ldc: int,
) -> torch.Tensor:  # fmt: skip
    """PyTorch's product of the whole matrix; one triangle of it is kept."""
    return syrk_eager(uplo, trans, n, k, alpha, a, lda, beta, c, ldc)


PROBLEM = ProblemDefinition(
    name="cublas::cublasCsyrkEx",
    entry="cublasCsyrkEx",
    signature=(
        "cublasCsyrkEx(uplo: str, trans: str, n: int, k: int, alpha: complex, A: Tensor, Atype: int, lda: "
        "int, beta: complex, C: Tensor, Ctype: int, ldc: int) -> Tensor"
    ),
    summary="C = alpha*op(A)op(A)^T + beta*C, one triangle, explicit types",
    category=Category.BLAS3_RANK,
    second_oracle="SciPy's BLAS routine syrk, in double precision",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=syrk_tolerance,
    cost=syrk_cost,
    mutates=("C",),
    cannot_reject={"infinities_clamped": "the result of infinities in a complex product is unspecified"},
)
