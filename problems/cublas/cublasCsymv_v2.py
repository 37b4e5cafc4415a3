"""Symmetric matrix-vector product: y = alpha * A @ x + beta * y, complex, column-major.

A: (n, n), symmetric and not Hermitian: A^T = A. uplo is "L" (the lower triangle is read) or "U" (the upper one). The
other triangle is not read. x, y: (n,). Increments are not 0; a vector with a negative increment is stored in reverse
order, as BLAS defines it. A leading dimension is at least the number of rows, and at least 1; the rows beyond a matrix
are not read and do not change. The buffers are dense, of complex64, and do not overlap; they may begin at any element
of their storage. n is at least 0. alpha and beta are Python complex numbers. Where alpha is 0, A and x are not read,
and where beta is 0, y is not: their content then, NaN included, does not influence the answer. NaN follows IEEE
arithmetic; the result of infinities in a complex product is unspecified. Products and partial sums that overflow are
outside of the contract. Sums are carried in float32 or better; TensorFloat-32 is not float32. Subnormal values may be
flushed to zero.
"""
# ruff: noqa: N999 -- a problem's file has the operator's own name

from __future__ import annotations

from engine.model import Case, Category, Cost, DType, ProblemDefinition, Tier, Tolerance
from problems.kit import Arguments, Layout, Special, rounded, torch
from problems.kit.blas import (
    NOTHING_READ,
    SPECIAL,
    UNREAD_NAN,
    case_table,
    matrix_of,
    parts_of,
    placed,
    scalar_of,
    scaled_or_zero,
    scattered_vector,
    symmetric_buffer,
    symmetric_of,
    vector_buffer,
    vector_of,
    widened,
    write_vector,
)

_rows = case_table(
    "{n} {uplo} inc {incx} {incy}",
    dtype=DType.COMPLEX64,
    uplo="L",
    alpha="1+0j",
    beta="0+0j",
    incx=1,
    incy=1,
    padding=0,
)
CASES = (
    *_rows(Tier.SMOKE, n=33, uplo=["L", "U"], alpha="2+0.5j", beta="-0.5+1j", incx=2, padding=3),
    *_rows(Tier.FULL, n=1),
    *_rows(Tier.FULL, n=[16, 32, 71, 129], uplo=["L", "U"], alpha="0.5-0.25j", beta="1+0j"),
    *_rows(Tier.FULL, n=65, incx=[-1, 3], incy=[1, -2], beta="0.5-0.25j", padding=2),
    *_rows(Tier.FULL, n=17, uplo=["L", "U"], beta="0.5+0j", padding=1, values=UNREAD_NAN),
    *_rows(Tier.FULL, n=12, alpha="0+0j", beta=["0+0j", "1+0j", "0.5-0.25j"], padding=2, values=NOTHING_READ),
    *_rows(Tier.FULL, n=0),
    *_rows(Tier.FULL, n=13, uplo=["L", "U"], beta="-0.5+0j", incy=2, padding=1, values=SPECIAL),
    *_rows(Tier.FULL, n=17, padding=1, layout=Layout.OFFSET),
    *_rows(Tier.BENCH, n=[71, 4096]),
)


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """A: a flat column-major buffer of which one triangle is read, x, y: flat buffers.

    Where beta is 0, y is NaN, and must not be read.  "special" has a NaN in y; in "unread nan" the other triangle and
    the padding are NaN; in "nothing to read", where alpha is 0, A and x are NaN.
    """
    n, incx, incy = case.size("n"), case.size("incx"), case.size("incy")
    a, lda = symmetric_buffer(case, n, rng)
    (x, _), (y, _) = (vector_buffer(case, n, increment, rng) for increment in (incx, incy))
    if case.word("values") == SPECIAL:
        y = scattered_vector(y, n, incy, [Special.NAN])
    if case.word("values") == NOTHING_READ:
        a, x = a.fill_(torch.nan), x.fill_(torch.nan)
    if scalar_of(case, "beta") == 0:
        write_vector(y, incy, torch.full((1, n), torch.nan, dtype=y.dtype))
    a, x, y = placed(case, a, x, y)
    return case.word("uplo"), n, scalar_of(case, "alpha"), a, lda, x, incx, scalar_of(case, "beta"), y, incy


def reference(
    uplo: str, n: int, alpha: complex, a: torch.Tensor, lda: int, x: torch.Tensor, incx: int, beta: complex,
    y: torch.Tensor, incy: int,
) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
    """The final y, as the returned tensor and as the argument; computed in complex128."""
    final = y.clone()
    total = scaled_or_zero(beta, widened(vector_of(y, n, incy)))
    if alpha != 0:
        whole = symmetric_of(widened(matrix_of(a, lda, n, n)[0]), uplo)
        total += alpha * (whole * widened(vector_of(x, n, incx))).sum(-1)
    write_vector(final, incy, total.to(y.dtype))
    return final, final


def eager(
    uplo: str, n: int, alpha: complex, a: torch.Tensor, lda: int, x: torch.Tensor, incx: int, beta: complex,
    y: torch.Tensor, incy: int,
) -> torch.Tensor:  # fmt: skip
    """PyTorch's product with the whole matrix."""
    total = scaled_or_zero(beta, vector_of(y, n, incy))
    if alpha != 0:
        whole = symmetric_of(matrix_of(a, lda, n, n)[0], uplo)
        total = total + alpha * torch.mv(whole, vector_of(x, n, incx)[0])
    write_vector(y, incy, total)
    return y


def tolerance(case: Case) -> Tolerance:
    """A sum over N and the sum with y, which may cancel; a complex product has two terms."""
    return rounded(case.dtype, terms=parts_of(case.dtype) * case.size("n") + 4)


def cost(case: Case) -> Cost:
    """Four real multiply-adds for each element of the whole matrix; each element of the triangle is read once."""
    n = case.size("n")
    used = scalar_of(case, "alpha") != 0
    read = (n * (n + 1) // 2 + n if used else 0) + (n if scalar_of(case, "beta") != 0 else 0)
    flops = 8 * n * n if used else 0
    return Cost(flops=flops, bytes_read=read * case.dtype.bytes, bytes_written=n * case.dtype.bytes)


PROBLEM = ProblemDefinition(
    name="cublas::cublasCsymv_v2",
    entry="cublasCsymv_v2",
    signature=(
        "cublasCsymv_v2(uplo: str, n: int, alpha: complex, A: Tensor, lda: int, x: Tensor, incx: int, beta: "
        "complex, y: Tensor, incy: int) -> Tensor"
    ),
    summary="y = alpha*A*x + beta*y, A symmetric",
    category=Category.BLAS2_SYMV,
    second_oracle="numpy.dot, in double precision",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    mutates=("y",),
    cannot_reject={"infinities_clamped": "the result of infinities in a complex product is unspecified"},
)
