"""Matrix product: C = alpha * op(A) @ op(B) + beta * C, column-major, with the types of A, B and C given.

transa and transb are "N", "T" or "C", upper or lower case; "C" is "T" for real numbers. op(A): (m, k), op(B): (k, n),
C: (m, n), column-major. Atype, Btype and Ctype are 0, the number of float32 (CUDA_R_32F) in cudaDataType; other types
are outside of the contract. A leading dimension is at least the number of rows, and at least 1; the rows beyond a
matrix are not read and do not change. The buffers are dense, of float32, and do not overlap; they may begin at any
element of their storage. m, n and k are at least 0. alpha and beta are Python floats. Where alpha or k is 0, A and B
are not read, and where beta is 0, C is not: their content then, NaN included, does not influence the answer. Elsewhere
NaN and infinities follow IEEE arithmetic. Products and partial sums that overflow are outside of the contract. Sums are
carried in float32 or better; TensorFloat-32 is not float32. Subnormal values may be flushed to zero.
"""
# ruff: noqa: N999 -- a problem's file has the operator's own name

from __future__ import annotations

from engine.model import Case, Category, DType, ProblemDefinition
from problems.kit import Arguments, torch
from problems.kit.blas import gemm_cases, gemm_cost, gemm_eager, gemm_inputs, gemm_reference, gemm_tolerance

CASES = gemm_cases(dtype=DType.FLOAT32)
_FLOAT32 = 0  # CUDA_R_32F in cudaDataType


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """As for the product without type arguments; all three are float32."""
    *front, a, lda, b, ldb, beta, c, ldc = gemm_inputs(case, rng)
    return *front, a, _FLOAT32, lda, b, _FLOAT32, ldb, beta, c, _FLOAT32, ldc


def reference(
    transa: str, transb: str, m: int, n: int, k: int, alpha: float, a: torch.Tensor, atype: int, lda: int,
    b: torch.Tensor, btype: int, ldb: int, beta: float, c: torch.Tensor, ctype: int, ldc: int,
) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
    """The final C, as the returned tensor and as the argument; computed in float64."""
    return gemm_reference(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)


def eager(
    transa: str, transb: str, m: int, n: int, k: int, alpha: float, a: torch.Tensor, atype: int, lda: int,
    b: torch.Tensor, btype: int, ldb: int, beta: float, c: torch.Tensor, ctype: int, ldc: int,
) -> torch.Tensor:  # fmt: skip
    """PyTorch's product and sum on views of the buffers."""
    return gemm_eager(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)


PROBLEM = ProblemDefinition(
    name="cublas::cublasSgemmEx",
    entry="cublasSgemmEx",
    signature=(
        "cublasSgemmEx(transa: str, transb: str, m: int, n: int, k: int, alpha: float, A: Tensor, Atype: int, "
        "lda: int, B: Tensor, Btype: int, ldb: int, beta: float, C: Tensor, Ctype: int, ldc: int) -> Tensor"
    ),
    summary="C = alpha*op(A)op(B) + beta*C with explicit types",
    category=Category.BLAS3_GEMM,
    second_oracle="SciPy's BLAS routine gemm, in double precision",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=gemm_tolerance,
    cost=gemm_cost,
    mutates=("C",),
)
