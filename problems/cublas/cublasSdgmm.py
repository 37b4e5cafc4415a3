"""Product with a diagonal matrix: C = diag(x) @ A, or A @ diag(x), column-major.

mode is "L" for diag(x) @ A, with x: (m,), or "R" for A @ diag(x), with x: (n,). A, C: (m, n). Element i of x is x[i *
incx]; with a negative increment x is stored in reverse order, and with an increment of 0 all elements are x[0]. A
leading dimension is at least the number of rows, and at least 1; the rows beyond a matrix are not read and do not
change. C is not read. The buffers are dense, of float32, and do not overlap; they may begin at any element of their
storage. m and n are at least 0. NaN and infinities follow IEEE arithmetic. Products that overflow are outside of the
contract. Subnormal values may be flushed to zero.
"""
# ruff: noqa: N999 -- a problem's file has the operator's own name

from __future__ import annotations

from engine.model import Case, Category, Cost, DType, ProblemDefinition, Tier, Tolerance
from problems.kit import Arguments, Layout, Special, rounded, torch
from problems.kit.blas import (
    SPECIAL,
    case_table,
    matrix_buffer,
    matrix_of,
    placed,
    special_lines,
    vector_buffer,
    vector_of,
    widened,
)

_rows = case_table("{mode} {m}x{n} inc {incx}", dtype=DType.FLOAT32, mode="L", incx=1, padding=0)
CASES = (
    *_rows(Tier.SMOKE, m=33, n=20, mode=["L", "R"], incx=2, padding=3),
    *_rows(Tier.FULL, m=1, n=1, mode=["L", "R"]),
    *_rows(Tier.FULL, m=[16, 127, 129], n=[31, 64], mode=["L", "R"]),
    *_rows(Tier.FULL, m=71, n=33, mode=["L", "R"], incx=[-1, 3, 0], padding=1),
    *_rows(Tier.FULL, m=1025, n=3),
    *_rows(Tier.FULL, m=3, n=1025, mode="R", incx=-2),
    *_rows(Tier.FULL, m=0, n=5),
    *_rows(Tier.FULL, m=5, n=0),
    *_rows(Tier.FULL, m=9, n=13, mode=["L", "R"], padding=2, values=SPECIAL),
    *_rows(Tier.FULL, m=17, n=9, mode=["L", "R"], padding=1, layout=Layout.OFFSET),
    *_rows(Tier.BENCH, m=71, n=497),
    *_rows(Tier.BENCH, m=4096, n=4096, mode=["L", "R"]),
)


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """A, C: flat column-major buffers, x: a flat buffer; C is NaN, and must not be read.

    "special" has special values in rows of A.
    """
    m, n, incx = case.size("m"), case.size("n"), case.size("incx")
    (a, lda, _), (c, ldc, _) = (matrix_buffer(case, m, n, case.size("padding"), rng) for _ in range(2))
    x, _ = vector_buffer(case, m if case.word("mode") == "L" else n, incx, rng)
    if case.word("values") == SPECIAL:
        kinds = [Special.NAN, Special.INF, Special.NEGATIVE_INF, Special.NEGATIVE_ZERO, Special.SUBNORMAL]
        special_lines(matrix_of(a, lda, m, n)[0], case.dtype, rng, dim=1, rows=kinds)
    matrix_of(c, ldc, m, n).fill_(torch.nan)
    a, x, c = placed(case, a, x, c)
    return case.word("mode"), m, n, a, lda, x, incx, c, ldc


def reference(
    mode: str, m: int, n: int, a: torch.Tensor, lda: int, x: torch.Tensor, incx: int, c: torch.Tensor, ldc: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """The final C, as the returned tensor and as the argument; computed in float64."""
    final = c.clone()
    factor = widened(vector_of(x, m if mode == "L" else n, incx))
    product = widened(matrix_of(a, lda, m, n)[0]) * (factor.mT if mode == "L" else factor)
    matrix_of(final, ldc, m, n)[0].copy_(product)
    return final, final


def eager(
    mode: str, m: int, n: int, a: torch.Tensor, lda: int, x: torch.Tensor, incx: int, c: torch.Tensor, ldc: int
) -> torch.Tensor:
    """PyTorch's product with a row or column."""
    factor = vector_of(x, m if mode == "L" else n, incx)
    matrix_of(c, ldc, m, n)[0].copy_(matrix_of(a, lda, m, n)[0] * (factor.mT if mode == "L" else factor))
    return c


def tolerance(case: Case) -> Tolerance:
    """One product."""
    return rounded(case.dtype)


def cost(case: Case) -> Cost:
    """One product per element."""
    m, n = case.size("m"), case.size("n")
    factors = (m if case.word("mode") == "L" else n) if case.size("incx") else 1
    read = m * n + (factors if m * n else 0)
    return Cost(flops=m * n, bytes_read=read * case.dtype.bytes, bytes_written=m * n * case.dtype.bytes)


PROBLEM = ProblemDefinition(
    name="cublas::cublasSdgmm",
    entry="cublasSdgmm",
    signature=(
        "cublasSdgmm(mode: str, m: int, n: int, A: Tensor, lda: int, x: Tensor, incx: int, C: Tensor, ldc: "
        "int) -> Tensor"
    ),
    summary="C = diag(x)*A or A*diag(x)",
    category=Category.BLAS_EXTENSION,
    second_oracle="numpy.multiply, in double precision",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=tolerance,
    cost=cost,
    mutates=("C",),
)
