"""Rank-one update with conjugation: A = alpha * x @ conj(y)^T + A, complex, column-major.

x: (m,), y: (n,), A: (m, n), column-major. y is conjugated. Increments are not 0; a vector with a negative increment is
stored in reverse order, as BLAS defines it. A leading dimension is at least the number of rows, and at least 1; the
rows beyond the matrix do not change. The buffers are dense, of complex128, and do not overlap; they may begin at any
element of their storage. m and n are at least 0. alpha is a Python complex number. Where it is 0, x and y are not read
and A stays as it is. NaN follows IEEE arithmetic; the result of infinities in a complex product is unspecified.
Products that overflow are outside of the contract. Subnormal values may be flushed to zero.
"""
# ruff: noqa: N999 -- a problem's file has the operator's own name

from __future__ import annotations

from engine.model import Category, DType, ProblemDefinition
from problems.kit import torch
from problems.kit.blas import ger_cases, ger_cost, ger_eager, ger_inputs, ger_reference, ger_tolerance

CASES = ger_cases(dtype=DType.COMPLEX128)


def reference(
    m: int, n: int, alpha: complex, x: torch.Tensor, incx: int, y: torch.Tensor, incy: int, a: torch.Tensor, lda: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """The update by the conjugate of y, computed in complex128."""
    return ger_reference(m, n, alpha, x, incx, y.conj().resolve_conj(), incy, a, lda)


def eager(
    m: int, n: int, alpha: complex, x: torch.Tensor, incx: int, y: torch.Tensor, incy: int, a: torch.Tensor, lda: int
) -> torch.Tensor:
    """PyTorch's outer product with the conjugate of y."""
    return ger_eager(m, n, alpha, x, incx, y.conj().resolve_conj(), incy, a, lda)


PROBLEM = ProblemDefinition(
    name="cublas::cublasZgerc_v2",
    entry="cublasZgerc_v2",
    signature=(
        "cublasZgerc_v2(m: int, n: int, alpha: complex, x: Tensor, incx: int, y: Tensor, incy: int, A: "
        "Tensor, lda: int) -> Tensor"
    ),
    summary="A += alpha*x*conj(y)^T",
    category=Category.BLAS2_RANK,
    second_oracle="SciPy's BLAS routine gerc, in double precision",
    cases=CASES,
    make_inputs=ger_inputs,
    reference=reference,
    eager=eager,
    tolerance=ger_tolerance,
    cost=ger_cost,
    mutates=("A",),
    cannot_reject={"infinities_clamped": "the result of infinities in a complex product is unspecified"},
)
