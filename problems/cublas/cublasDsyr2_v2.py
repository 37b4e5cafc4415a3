"""Symmetric rank-two update: A = alpha * (x @ y^T + y @ x^T) + A on one triangle, column-major.

x, y: (n,), A: (n, n). uplo is "L" or "U": the triangle of A that is read and written; the other stays as it is.
Increments are not 0; a vector with a negative increment is stored in reverse order, as BLAS defines it. A leading
dimension is at least the number of rows, and at least 1; the rows beyond a matrix are not read and do not change. The
buffers are dense, of float64, and do not overlap; they may begin at any element of their storage. n is at least 0.
alpha is a Python float. Where it is 0, x and y are not read and A stays as it is. NaN and infinities follow IEEE
arithmetic. Products that overflow are outside of the contract.
"""
# ruff: noqa: N999 -- a problem's file has the operator's own name

from __future__ import annotations

import math

from engine.model import Case, Category, Cost, DType, ProblemDefinition, Tier, Tolerance
from problems.kit import Arguments, Layout, Special, cancelling, torch
from problems.kit.blas import (
    NOTHING_READ,
    SPECIAL,
    UNREAD_NAN,
    case_table,
    in_triangle,
    matrix_of,
    placed,
    scattered_vector,
    symmetric_buffer,
    vector_buffer,
    vector_of,
    widened,
)
from problems.kit.tolerances import of_few

_rows = case_table("{n} {uplo} inc {incx} {incy}", dtype=DType.FLOAT64, uplo="L", alpha=1.0, incx=1, incy=1, padding=0)
CASES = (
    *_rows(Tier.SMOKE, n=33, uplo=["L", "U"], alpha=-0.75, incx=2, incy=-3, padding=3),
    *_rows(Tier.FULL, n=1),
    *_rows(Tier.FULL, n=[16, 32, 71, 129], uplo=["L", "U"], alpha=0.1),
    *_rows(Tier.FULL, n=65, incx=[-1, 3], incy=[1, -2], padding=2),
    *_rows(Tier.FULL, n=17, uplo=["L", "U"], alpha=100.001, padding=1, values=UNREAD_NAN),
    *_rows(Tier.FULL, n=12, alpha=0.0, padding=2, values=NOTHING_READ),
    *_rows(Tier.FULL, n=0),
    *_rows(Tier.FULL, n=13, uplo=["L", "U"], incx=2, padding=1, values=SPECIAL),
    *_rows(Tier.FULL, n=17, incy=2, padding=1, layout=Layout.OFFSET),
    *_rows(Tier.BENCH, n=[71, 4096]),
)


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """x, y: flat buffers, A: a flat column-major buffer, of which one triangle is read and written.

    "special" has NaN and infinities in x; in "unread nan" the other triangle and the padding are NaN; in "nothing to
    read", where alpha is 0, x and y are NaN.
    """
    n, incx, incy = case.size("n"), case.size("incx"), case.size("incy")
    (x, _), (y, _) = (vector_buffer(case, n, increment, rng) for increment in (incx, incy))
    a, lda = symmetric_buffer(case, n, rng)
    if case.word("values") == SPECIAL:
        x = scattered_vector(x, n, incx, [Special.NAN, Special.INF, Special.NEGATIVE_INF])
    if case.word("values") == NOTHING_READ:
        x, y = x.fill_(torch.nan), y.fill_(torch.nan)
    x, y, a = placed(case, x, y, a)
    return case.word("uplo"), n, case.number("alpha"), x, incx, y, incy, a, lda


def reference(
    uplo: str, n: int, alpha: float, x: torch.Tensor, incx: int, y: torch.Tensor, incy: int, a: torch.Tensor, lda: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """The final A, as the returned tensor and as the argument."""
    final = a.clone()
    if alpha != 0:
        matrix, left, right = matrix_of(final, lda, n, n)[0], vector_of(x, n, incx)[0], vector_of(y, n, incy)[0]
        product = widened(left)[:, None] * widened(right)[None, :]
        updated = alpha * (product + product.T) + matrix
        matrix.copy_(torch.where(in_triangle(n, uplo, like=a), updated, matrix))
    return final, final


def eager(
    uplo: str, n: int, alpha: float, x: torch.Tensor, incx: int, y: torch.Tensor, incy: int, a: torch.Tensor, lda: int
) -> torch.Tensor:
    """PyTorch's outer products of views of the buffers; one triangle of the sum is kept."""
    if alpha != 0:
        matrix, left, right = matrix_of(a, lda, n, n)[0], vector_of(x, n, incx)[0], vector_of(y, n, incy)[0]
        updated = torch.addr(torch.addr(matrix, left, right, alpha=alpha), right, left, alpha=alpha)
        matrix.copy_(torch.where(in_triangle(n, uplo, like=a), updated, matrix))
    return a


def tolerance(case: Case) -> Tolerance:
    """The products may be rounded before their sum with A, which may cancel."""
    size = math.hypot(1.0, math.sqrt(2) * case.number("alpha"))
    return of_few(cancelling(case.dtype), outputs=case.size("n") ** 2, scale=size)


def cost(case: Case) -> Cost:
    """Two products and two sums for each element of the triangle; nothing where alpha is 0."""
    n = case.size("n")
    triangle = n * (n + 1) // 2 if case.number("alpha") else 0
    read = triangle + (2 * n if triangle else 0)
    return Cost(flops=4 * triangle, bytes_read=read * case.dtype.bytes, bytes_written=triangle * case.dtype.bytes)


PROBLEM = ProblemDefinition(
    name="cublas::cublasDsyr2_v2",
    entry="cublasDsyr2_v2",
    signature=(
        "cublasDsyr2_v2(uplo: str, n: int, alpha: float, x: Tensor, incx: int, y: Tensor, incy: int, A: "
        "Tensor, lda: int) -> Tensor"
    ),
    summary="A += alpha*(x*y^T + y*x^T), one triangle",
    category=Category.BLAS2_RANK,
    second_oracle="SciPy's BLAS routine syr2, in double precision",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    mutates=("A",),
)
