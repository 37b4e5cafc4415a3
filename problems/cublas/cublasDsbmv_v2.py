"""Symmetric band matrix-vector product: y = alpha * A @ x + beta * y with k diagonals besides the main one.

A is the band of a symmetric (n, n) matrix, of which one triangle is stored. Column j of the matrix is column j of the
(k + 1, n) array A, column-major: element (i, j) is in row k + i - j for uplo "U" and in row i - j for "L". k is at
least 0 and may exceed n - 1. Memory that belongs to no element of the band (the corners, and the rows beyond k + 1) is
not read. lda is at least k + 1. x, y: (n,). Increments are not 0; a vector with a negative increment is stored in
reverse order, as BLAS defines it. The buffers are dense, of float64, and do not overlap; they may begin at any element
of their storage. n is at least 0. alpha and beta are Python floats. Where alpha is 0, A and x are not read, and where
beta is 0, y is not: their content then, NaN included, does not influence the answer. Elements outside of the band are
not multiplied: an infinity in x reaches only the rows of its band. NaN and infinities follow IEEE arithmetic. Products
and partial sums that overflow are outside of the contract. Sums are carried in float64.
"""
# ruff: noqa: N999 -- a problem's file has the operator's own name

from __future__ import annotations

from engine.model import Case, Category, Cost, DType, ProblemDefinition, Tier, Tolerance
from problems.kit import Arguments, Layout, Special, rounded, torch
from problems.kit.blas import (
    NOTHING_READ,
    SPECIAL,
    UNREAD_NAN,
    band_buffer,
    case_table,
    diagonal_of,
    placed,
    scaled_or_zero,
    scattered_vector,
    vector_buffer,
    vector_of,
    widened,
    write_vector,
)

_rows = case_table(
    "{n} {uplo}{k} inc {incx} {incy}",
    dtype=DType.FLOAT64,
    uplo="U",
    k=2,
    alpha=1.0,
    beta=-0.75,
    incx=1,
    incy=1,
    padding=0,
)
CASES = (
    *_rows(Tier.SMOKE, n=71, uplo=["L", "U"], alpha=-0.999, incx=2, padding=3),
    *_rows(Tier.FULL, n=1, k=[0, 2]),
    *_rows(Tier.FULL, n=[32, 127, 129, 1025], uplo=["L", "U"], alpha=0.1),
    *_rows(Tier.FULL, n=65, k=[0, 1, 7, 64, 70], uplo=["L", "U"], beta=0.5),
    *_rows(Tier.FULL, n=65, incx=[-1, 3], incy=[1, -2], padding=2),
    *_rows(Tier.FULL, n=17, k=3, uplo=["L", "U"], padding=1, values=UNREAD_NAN),
    *_rows(Tier.FULL, n=12, alpha=0.0, beta=[0.0, 1.0, 0.5], padding=2, values=NOTHING_READ),
    *_rows(Tier.FULL, n=0),
    *_rows(Tier.FULL, n=33, beta=0.0),
    *_rows(Tier.FULL, n=40, uplo=["L", "U"], incy=2, padding=1, values=SPECIAL),
    *_rows(Tier.FULL, n=17, padding=1, layout=Layout.OFFSET),
    *_rows(Tier.BENCH, n=[5333, 1 << 20]),
    *_rows(Tier.BENCH, n=1 << 18, k=32),
)


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """A: a flat buffer of a band, x, y: flat buffers.

    Where beta is 0, y is NaN, and must not be read.  "special" has NaN and infinities in x; in "unread nan" memory
    outside of the band's elements is NaN; in "nothing to read", where alpha is 0, A and x are NaN.
    """
    n, k, incx, incy = case.size("n"), case.size("k"), case.size("incx"), case.size("incy")
    a, lda = band_buffer(case, n, k, rng, is_unit=False)
    (x, _), (y, _) = (vector_buffer(case, n, increment, rng) for increment in (incx, incy))
    if case.word("values") == SPECIAL:
        x = scattered_vector(x, n, incx, [Special.NAN, Special.INF, Special.NEGATIVE_INF])
    if case.word("values") == NOTHING_READ:
        a, x = a.fill_(torch.nan), x.fill_(torch.nan)
    if case.number("beta") == 0:
        write_vector(y, incy, torch.full((1, n), torch.nan, dtype=y.dtype))
    a, x, y = placed(case, a, x, y)
    return case.word("uplo"), n, k, case.number("alpha"), a, lda, x, incx, case.number("beta"), y, incy


def reference(
    uplo: str, n: int, k: int, alpha: float, a: torch.Tensor, lda: int, x: torch.Tensor, incx: int, beta: float,
    y: torch.Tensor, incy: int,
) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
    """The final y, as the returned tensor and as the argument; diagonal by diagonal."""
    final = y.clone()
    total = scaled_or_zero(beta, widened(vector_of(y, n, incy)))
    if alpha != 0:
        total += alpha * _product(uplo, n, k, a, lda, vector_of(x, n, incx)[0])
    write_vector(final, incy, total)
    return final, final


def _product(uplo: str, n: int, k: int, a: torch.Tensor, lda: int, vector: torch.Tensor) -> torch.Tensor:
    """A @ x: element p of diagonal d contributes to both rows p and p + d."""
    total = torch.zeros_like(vector)
    for distance in range(min(k, n - 1) + 1):
        diagonal = diagonal_of(a, lda, n, k, uplo, distance)
        total[: n - distance] += diagonal * vector[distance:]
        if distance:
            total[distance:] += diagonal * vector[: n - distance]
    return total


def eager(
    uplo: str, n: int, k: int, alpha: float, a: torch.Tensor, lda: int, x: torch.Tensor, incx: int, beta: float,
    y: torch.Tensor, incy: int,
) -> torch.Tensor:  # fmt: skip
    """Products and sums of whole diagonals."""
    total = scaled_or_zero(beta, vector_of(y, n, incy))
    if alpha != 0:
        total = total + alpha * _product(uplo, n, k, a, lda, vector_of(x, n, incx)[0])
    write_vector(y, incy, total)
    return y


def tolerance(case: Case) -> Tolerance:
    """A sum over the width of the band and the sum with y, which may cancel."""
    return rounded(case.dtype, terms=2 * case.size("k") + 4)


def cost(case: Case) -> Cost:
    """Two multiply-adds for each stored element, which is read once."""
    n, k = case.size("n"), case.size("k")
    stored = sum(max(n - distance, 0) for distance in range(k + 1)) if case.number("alpha") else 0
    read = stored + (n if stored else 0) + (n if case.number("beta") else 0)
    return Cost(flops=4 * stored, bytes_read=read * case.dtype.bytes, bytes_written=n * case.dtype.bytes)


PROBLEM = ProblemDefinition(
    name="cublas::cublasDsbmv_v2",
    entry="cublasDsbmv_v2",
    signature=(
        "cublasDsbmv_v2(uplo: str, n: int, k: int, alpha: float, A: Tensor, lda: int, x: Tensor, incx: int, "
        "beta: float, y: Tensor, incy: int) -> Tensor"
    ),
    summary="y = alpha*A*x + beta*y, A a symmetric band",
    category=Category.BLAS2_BAND,
    second_oracle="SciPy's BLAS routine sbmv, in double precision",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    mutates=("y",),
)
