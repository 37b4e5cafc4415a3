"""Triangular band matrix-vector product: x = op(A) @ x with k diagonals besides the main one.

A is the band of a triangular (n, n) matrix. Column j of the matrix is column j of the (k + 1, n) array A, column-major:
element (i, j) is in row k + i - j for uplo "U" and in row i - j for "L". k is at least 0 and may exceed n - 1. Memory
that belongs to no element of the band (the corners, and the rows beyond k + 1) is not read. lda is at least k + 1.
trans is "N" or "T". diag is "N", or "U" for a diagonal of ones, which is not read. x: (n,). Increments are not 0; a
vector with a negative increment is stored in reverse order, as BLAS defines it. The buffers are dense, of float32, and
do not overlap; they may begin at any element of their storage. n is at least 0. Elements outside of the band are not
multiplied: an infinity in x reaches only the rows of its band. NaN and infinities follow IEEE arithmetic. Products and
partial sums that overflow are outside of the contract. Sums are carried in float32 or better; TensorFloat-32 is not
float32. Subnormal values may be flushed to zero.
"""
# ruff: noqa: N999 -- a problem's file has the operator's own name

from __future__ import annotations

from engine.model import Case, Category, Cost, DType, ProblemDefinition, Tier, Tolerance
from problems.kit import Arguments, Layout, Special, rounded, torch
from problems.kit.blas import (
    SPECIAL,
    UNREAD_NAN,
    band_buffer,
    case_table,
    diagonal_of,
    placed,
    scattered_vector,
    vector_buffer,
    vector_of,
    widened,
    write_vector,
)

_rows = case_table(
    "{n} {uplo}{trans}{diag} {k} inc {incx}", dtype=DType.FLOAT32, uplo="U", trans="N", diag="N", k=2, incx=1, padding=0
)
_EVERY = {"uplo": ["L", "U"], "trans": ["N", "T"], "diag": ["N", "U"]}
CASES = (
    *_rows(Tier.SMOKE, n=71, uplo="L", incx=2, padding=3),
    *_rows(Tier.SMOKE, n=129, trans="T", diag="U"),
    *_rows(Tier.FULL, n=1, k=[0, 2]),
    *_rows(Tier.FULL, n=33, k=2, **_EVERY),
    *_rows(Tier.FULL, n=[127, 129, 1025], uplo=["L", "U"]),
    *_rows(Tier.FULL, n=65, k=[0, 1, 7, 64, 70], trans=["N", "T"]),
    *_rows(Tier.FULL, n=65, incx=[-1, 3, -2], padding=2),
    *_rows(Tier.FULL, n=17, k=3, padding=1, values=UNREAD_NAN, **_EVERY),
    *_rows(Tier.FULL, n=0),
    *_rows(Tier.FULL, n=40, uplo=["L", "U"], trans=["N", "T"], incx=2, padding=1, values=SPECIAL),
    *_rows(Tier.FULL, n=17, padding=1, layout=Layout.OFFSET),
    *_rows(Tier.BENCH, n=[5333, 1 << 20]),
    *_rows(Tier.BENCH, n=1 << 18, k=32, trans="T"),
)


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """A: a flat buffer of a band, x: a flat buffer.

    "special" has NaN and infinities in x; in "unread nan" memory outside of the band's elements is NaN.
    """
    n, k, incx = case.size("n"), case.size("k"), case.size("incx")
    a, lda = band_buffer(case, n, k, rng, is_unit=case.word("diag") == "U")
    x, _ = vector_buffer(case, n, incx, rng)
    if case.word("values") == SPECIAL:
        x = scattered_vector(x, n, incx, [Special.NAN, Special.INF, Special.NEGATIVE_INF])
    a, x = placed(case, a, x)
    return case.word("uplo"), case.word("trans"), case.word("diag"), n, k, a, lda, x, incx


def reference(
    uplo: str, trans: str, diag: str, n: int, k: int, a: torch.Tensor, lda: int, x: torch.Tensor, incx: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """The final x, as the returned tensor and as the argument; computed in float64, diagonal by diagonal."""
    final = x.clone()
    total = _product(uplo, trans, diag, n, k, a.double(), lda, widened(vector_of(x, n, incx)[0]))
    write_vector(final, incx, total.to(x.dtype)[None])
    return final, final


def _product(
    uplo: str, trans: str, diag: str, n: int, k: int, a: torch.Tensor, lda: int, vector: torch.Tensor
) -> torch.Tensor:
    """op(A) @ x: element p of diagonal d takes x from p + d to p in an upper matrix, from p to p + d in a lower one."""
    total = vector.clone() if diag == "U" else torch.zeros_like(vector)
    for distance in range(1 if diag == "U" else 0, min(k, n - 1) + 1):
        diagonal = diagonal_of(a, lda, n, k, uplo, distance)
        if (uplo == "U") == (trans == "N"):
            total[: n - distance] += diagonal * vector[distance:]
        else:
            total[distance:] += diagonal * vector[: n - distance]
    return total


def eager(
    uplo: str, trans: str, diag: str, n: int, k: int, a: torch.Tensor, lda: int, x: torch.Tensor, incx: int
) -> torch.Tensor:
    """Products and sums of whole diagonals."""
    write_vector(x, incx, _product(uplo, trans, diag, n, k, a, lda, vector_of(x, n, incx)[0])[None])
    return x


def tolerance(case: Case) -> Tolerance:
    """A sum over the width of the band, which may cancel."""
    return rounded(case.dtype, terms=case.size("k") + 4)


def cost(case: Case) -> Cost:
    """One multiply-add for each stored element of the band."""
    n, first = case.size("n"), 1 if case.word("diag") == "U" else 0
    stored = sum(max(n - distance, 0) for distance in range(first, case.size("k") + 1))
    return Cost(flops=2 * stored, bytes_read=(stored + n) * case.dtype.bytes, bytes_written=n * case.dtype.bytes)


PROBLEM = ProblemDefinition(
    name="cublas::cublasStbmv_v2",
    entry="cublasStbmv_v2",
    signature=(
        "cublasStbmv_v2(uplo: str, trans: str, diag: str, n: int, k: int, A: Tensor, lda: int, x: Tensor, "
        "incx: int) -> Tensor"
    ),
    summary="x = op(A)x, A a triangular band",
    category=Category.BLAS2_BAND,
    second_oracle="SciPy's BLAS routine tbmv, in double precision",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    mutates=("x",),
)
