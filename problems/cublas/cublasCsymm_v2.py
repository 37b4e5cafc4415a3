"""Product with a symmetric matrix: C = alpha * A @ B + beta * C, or alpha * B @ A + beta * C, complex.

side is "L" for A @ B, with A: (m, m), or "R" for B @ A, with A: (n, n). A is symmetric and not Hermitian: A^T = A. uplo
is "L" (the lower triangle is read) or "U" (the upper one). The other triangle is not read. B, C: (m, n). All matrices
are column-major. A leading dimension is at least the number of rows, and at least 1; the rows beyond a matrix are not
read and do not change. The buffers are dense, of complex64, and do not overlap; they may begin at any element of their
storage. m and n are at least 0. alpha and beta are Python complex numbers. Where alpha is 0, A and B are not read, and
where beta is 0, C is not: their content then, NaN included, does not influence the answer. NaN follows IEEE arithmetic;
the result of infinities in a complex product is unspecified. Products and partial sums that overflow are outside of the
contract. Sums are carried in float32 or better; TensorFloat-32 is not float32. Subnormal values may be flushed to zero.
"""
# ruff: noqa: N999 -- a problem's file has the operator's own name

from __future__ import annotations

from engine.model import Case, Category, Cost, DType, ProblemDefinition, Tier, Tolerance
from problems.kit import Arguments, Layout, Special, rounded, torch
from problems.kit.blas import (
    NOTHING_READ,
    SPECIAL,
    UNREAD_NAN,
    add_product,
    case_table,
    matrix_buffer,
    matrix_of,
    parts_of,
    placed,
    scalar_of,
    scaled_or_zero,
    special_lines,
    symmetric_buffer,
    symmetric_of,
)

_rows = case_table(
    "{side}{uplo} {m}x{n}", dtype=DType.COMPLEX64, side="L", uplo="L", alpha="1+0j", beta="0+0j", padding=0
)
_SIDES = {"side": ["L", "R"], "uplo": ["L", "U"]}
CASES = (
    *_rows(Tier.SMOKE, m=33, n=17, alpha="2+0.5j", beta="-0.5+1j", padding=3),
    *_rows(Tier.SMOKE, side="R", uplo="U", m=20, n=33, alpha="0.5-1j", beta="0.5-0.25j", padding=1),
    *_rows(Tier.FULL, m=1, n=1, **_SIDES),
    *_rows(Tier.FULL, m=16, n=33, alpha="0.5-0.25j", beta="1+0j", **_SIDES),
    *_rows(Tier.FULL, m=[63, 65], n=31, beta="0.5-0.25j", padding=1),
    *_rows(Tier.FULL, side="R", m=9, n=129, beta="0.5-0.25j"),
    *_rows(Tier.FULL, m=17, n=9, beta="0.5+0j", padding=1, values=UNREAD_NAN, **_SIDES),
    *_rows(Tier.FULL, m=12, n=8, alpha="0+0j", beta=["0+0j", "1+0j", "0.5-0.25j"], padding=2, values=NOTHING_READ),
    *_rows(Tier.FULL, m=0, n=5, side=["L", "R"]),
    *_rows(Tier.FULL, m=5, n=0, side=["L", "R"]),
    *_rows(Tier.FULL, m=13, n=9, beta="-0.5+0j", padding=1, values=SPECIAL, side=["L", "R"]),
    *_rows(Tier.FULL, m=17, n=9, uplo="U", padding=1, layout=Layout.OFFSET),
    *_rows(Tier.BENCH, m=128, n=160, beta="0.5+0j"),
    *_rows(Tier.BENCH, m=1024, n=1024, side=["L", "R"]),
)


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """A, B, C: flat column-major buffers; one triangle of A is read.

    Where beta is 0, C is NaN, and must not be read.  "special" has a NaN in a row of B; in "unread nan" the other
    triangle and the padding of A are NaN; in "nothing to read", where alpha is 0, A and B are NaN.
    """
    m, n, padding = case.size("m"), case.size("n"), case.size("padding")
    a, lda = symmetric_buffer(case, m if case.word("side") == "L" else n, rng)
    (b, ldb, _), (c, ldc, _) = (matrix_buffer(case, m, n, padding, rng) for _ in range(2))
    if case.word("values") == SPECIAL:
        special_lines(matrix_of(b, ldb, m, n)[0], case.dtype, rng, dim=1, rows=[Special.NAN])
    if case.word("values") == NOTHING_READ:
        a, b = a.fill_(torch.nan), b.fill_(torch.nan)
    if scalar_of(case, "beta") == 0:
        matrix_of(c, ldc, m, n).fill_(torch.nan)
    a, b, c = placed(case, a, b, c)
    alpha, beta = scalar_of(case, "alpha"), scalar_of(case, "beta")
    return case.word("side"), case.word("uplo"), m, n, alpha, a, lda, b, ldb, beta, c, ldc


def reference(
    side: str, uplo: str, m: int, n: int, alpha: complex, a: torch.Tensor, lda: int, b: torch.Tensor, ldb: int,
    beta: complex, c: torch.Tensor, ldc: int,
) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
    """The final C, as the returned tensor and as the argument; computed in complex128."""
    final, order = c.clone(), m if side == "L" else n
    whole, other = symmetric_of(matrix_of(a, lda, order, order)[0], uplo), matrix_of(b, ldb, m, n)[0]
    left, right = (whole, other) if side == "L" else (other, whole)
    add_product(matrix_of(final, ldc, m, n)[0], left, right, alpha, beta)
    return final, final


def eager(
    side: str, uplo: str, m: int, n: int, alpha: complex, a: torch.Tensor, lda: int, b: torch.Tensor, ldb: int,
    beta: complex, c: torch.Tensor, ldc: int,
) -> torch.Tensor:  # fmt: skip
    """PyTorch's product with the whole matrix."""
    matrix, order = matrix_of(c, ldc, m, n)[0], m if side == "L" else n
    total = scaled_or_zero(beta, matrix)
    if alpha != 0:
        whole, other = symmetric_of(matrix_of(a, lda, order, order)[0], uplo), matrix_of(b, ldb, m, n)[0]
        total = total + alpha * (whole @ other if side == "L" else other @ whole)
    matrix.copy_(total)
    return c


def tolerance(case: Case) -> Tolerance:
    """A sum over the order of A and the sum with C, which may cancel; a complex product has two terms."""
    order = case.size("m") if case.word("side") == "L" else case.size("n")
    return rounded(case.dtype, terms=parts_of(case.dtype) * order + 4)


def cost(case: Case) -> Cost:
    """Four real multiply-adds for each element of C and row of A; one triangle of A is read."""
    m, n = case.size("m"), case.size("n")
    order = m if case.word("side") == "L" else n
    used = scalar_of(case, "alpha") != 0
    read = (order * (order + 1) // 2 + m * n if used else 0) + (m * n if scalar_of(case, "beta") != 0 else 0)
    flops = 8 * m * n * order if used else 0
    return Cost(flops=flops, bytes_read=read * case.dtype.bytes, bytes_written=m * n * case.dtype.bytes)


PROBLEM = ProblemDefinition(
    name="cublas::cublasCsymm_v2",
    entry="cublasCsymm_v2",
    signature=(
        "cublasCsymm_v2(side: str, uplo: str, m: int, n: int, alpha: complex, A: Tensor, lda: int, B: Tensor, "
        "ldb: int, beta: complex, C: Tensor, ldc: int) -> Tensor"
    ),
    summary="C = alpha*A*B (or B*A) + beta*C, A symmetric",
    category=Category.BLAS3_SYMM,
    second_oracle="SciPy's BLAS routine symm, in double precision",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    mutates=("C",),
    cannot_reject={"infinities_clamped": "the result of infinities in a complex product is unspecified"},
)
