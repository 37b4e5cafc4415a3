"""Rank-k updates of one triangle of a symmetric matrix: C = alpha * op(A) @ op(A)^T + beta * C.

Shapes: op(A): (n, k), C: (n, n); A is never conjugated.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Cost, DType, Tier, Tolerance
from problems.kit.blas.buffers import SPECIAL, UNREAD_NAN, matrix_buffer, placed, special_lines
from problems.kit.blas.gemm import NOTHING_READ
from problems.kit.blas.scalars import parts_of, scalar_of, scalar_parameter
from problems.kit.blas.tables import case_table
from problems.kit.blas.triangular import symmetric_buffer
from problems.kit.blas.views import in_triangle, matrix_of, operand_of, scaled_or_zero, widened
from problems.kit.cases import Arguments
from problems.kit.deferred import torch
from problems.kit.layouts import Layout
from problems.kit.tolerances import rounded
from problems.kit.values import Special

_LINES_OF_A = [Special.NAN, Special.INF, Special.NEGATIVE_INF, Special.SUBNORMAL]


def syrk_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """A, C: flat column-major buffers; one triangle of C is read and written, the other must not change.

    If beta is 0, the triangle of C is NaN and must not be read.  "special" has special values in rows of op(A); in
    "unread nan" the other triangle and the padding are NaN; in "nothing to read", where alpha is 0, A is NaN.
    """
    n, k, uplo, trans = case.size("n"), case.size("k"), case.word("uplo"), case.word("trans")
    rows, columns = (n, k) if trans == "N" else (k, n)
    a, lda, _ = matrix_buffer(case, rows, columns, case.size("padding"), rng)
    c, ldc = symmetric_buffer(case, n, rng)
    if case.word("values") == SPECIAL:
        dim = 1 if trans == "N" else 0
        special_lines(matrix_of(a, lda, rows, columns)[0], case.dtype, rng, dim=dim, rows=_LINES_OF_A)
    if case.word("values") == UNREAD_NAN:
        a.view(-1, lda)[:, rows:] = torch.nan
    if case.word("values") == NOTHING_READ:
        a.fill_(torch.nan)
    if scalar_of(case, "beta") == 0:
        matrix_of(c, ldc, n, n)[0].masked_fill_(in_triangle(n, uplo, like=c), torch.nan)
    a, c = placed(case, a, c)
    return uplo, trans, n, k, scalar_of(case, "alpha"), a, lda, scalar_of(case, "beta"), c, ldc


def syrk_reference(
    uplo: str, trans: str, n: int, k: int, alpha: complex, a: torch.Tensor, lda: int, beta: complex, c: torch.Tensor,
    ldc: int,
) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
    """The final C, as the returned tensor and as the argument; computed in float64 or complex128."""
    final = c.clone()
    matrix = matrix_of(final, ldc, n, n)[0]
    total = scaled_or_zero(beta, widened(matrix))
    if alpha != 0:
        factor = widened(operand_of(a, lda, n, k, trans)[0])
        total += alpha * (factor @ factor.mT)
    matrix.copy_(torch.where(in_triangle(n, uplo, like=c), total.to(c.dtype), matrix))
    return final, final


def syrk_eager(
    uplo: str, trans: str, n: int, k: int, alpha: complex, a: torch.Tensor, lda: int, beta: complex, c: torch.Tensor,
    ldc: int,
) -> torch.Tensor:  # fmt: skip
    """PyTorch's product of the whole matrix; one triangle of it is stored."""
    factor, matrix = operand_of(a, lda, n, k, trans)[0], matrix_of(c, ldc, n, n)[0]
    total = scaled_or_zero(beta, matrix)
    if alpha != 0 and k > 0:
        total = torch.addmm(total, factor, factor.mT, alpha=alpha)
    matrix.copy_(torch.where(in_triangle(n, uplo, like=c), total, matrix))
    return c


def syrk_tolerance(case: Case) -> Tolerance:
    """Sums over K and the sum with C, which may cancel; a complex product has two terms."""
    return rounded(case.dtype, terms=parts_of(case.dtype) * case.size("k") + 4)


def syrk_cost(case: Case) -> Cost:
    """One multiply-add for each of K and each element of a triangle; C is read only if beta is not 0."""
    n = case.size("n")
    k = case.size("k") if scalar_of(case, "alpha") != 0 else 0
    triangle = n * (n + 1) // 2
    read = n * k + (triangle if scalar_of(case, "beta") != 0 else 0)
    return Cost(
        flops=2 * triangle * k * parts_of(case.dtype) ** 2,
        bytes_read=read * case.dtype.bytes,
        bytes_written=triangle * case.dtype.bytes,
    )


def syrk_cases(*, dtype: DType) -> tuple[Case, ...]:
    """Sizes around the block sizes of kernels, both triangles and operations, scalars, padding, unread elements."""
    scale = partial(scalar_parameter, dtype)
    zero, one, half = scale(0.0), scale(1.0), scale(0.5, -0.25)
    rows = case_table("{n}x{k} {uplo}{trans}", dtype=dtype, uplo="L", trans="N", alpha=one, beta=zero, padding=0)
    both = {"uplo": ["L", "U"], "trans": ["N", "T"]}
    return (
        *rows(Tier.SMOKE, n=33, k=17, uplo="L", alpha=scale(-0.75, 0.5), beta=half, padding=3),
        *rows(Tier.SMOKE, n=20, k=40, uplo="U", trans="T", alpha=scale(2.0, 1.0), beta=scale(0.25, 1), padding=1),
        *rows(Tier.FULL, n=1, k=1, **both),
        *rows(Tier.FULL, n=[16, 33], k=16, alpha=half, beta=half, **both),
        *rows(Tier.FULL, n=[63, 65], k=33, beta=one, padding=1),
        *rows(Tier.FULL, n=71, k=129, uplo="U", trans="T", beta=half),
        *rows(Tier.FULL, n=17, k=9, beta=half, padding=2, values=UNREAD_NAN, **both),
        *rows(Tier.FULL, n=12, k=8, alpha=zero, beta=[zero, one, half], padding=2, values=NOTHING_READ),
        *rows(Tier.FULL, n=9, k=0, beta=[zero, half], padding=2),
        *rows(Tier.FULL, n=0, k=5),
        *rows(Tier.FULL, n=13, k=17, beta=scale(-0.5), padding=1, values=SPECIAL, **both),
        *rows(Tier.FULL, n=17, k=21, uplo="U", beta=half, padding=1, layout=Layout.OFFSET),
        *rows(Tier.BENCH, n=128, k=64, beta=half),
        *rows(Tier.BENCH, n=1024, k=512, trans=["N", "T"], beta=scale(0.25)),
    )
