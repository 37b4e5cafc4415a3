"""Triangular solve for one vector: x = op(A)^-1 @ b, where x holds b before.

A: (n, n), column-major. uplo is "L" or "U": the triangle of A that is read. diag is "N", or "U" for a diagonal of ones,
which is not read. trans is "N" or "T". x: (n,). Increments are not 0; a vector with a negative increment is stored in
reverse order, as BLAS defines it. A leading dimension is at least the number of rows, and at least 1; the rows beyond a
matrix are not read and do not change. The buffers are dense, of float32, and do not overlap; they may begin at any
element of their storage. n is at least 0. The matrix has no zero on its diagonal and is well-conditioned. A NaN in the
first element that is solved for makes the whole solution NaN; the effect of other NaN and infinities depends on the
algorithm and is outside of the contract. Sums are carried in float32 or better; TensorFloat-32 is not float32.
Subnormal values may be flushed to zero.
"""
# ruff: noqa: N999 -- a problem's file has the operator's own name

from __future__ import annotations

from engine.model import Case, Category, Cost, DType, ProblemDefinition, Tier
from problems.kit import Arguments, Layout, torch
from problems.kit.blas import (
    NAN_FIRST,
    SOLVES_LEAVE_OPEN,
    UNREAD_NAN,
    case_table,
    is_forward,
    matrix_of,
    placed,
    solve_tolerance,
    solved,
    transformed,
    triangular_buffer,
    vector_buffer,
    vector_of,
    widened,
    write_vector,
)

_rows = case_table(
    "{n} {uplo}{trans}{diag} inc {incx}", dtype=DType.FLOAT32, uplo="L", trans="N", diag="N", incx=1, padding=0
)
_EVERY = {"uplo": ["L", "U"], "trans": ["N", "T"], "diag": ["N", "U"]}
CASES = (
    *_rows(Tier.SMOKE, n=33, incx=2, padding=3),
    *_rows(Tier.SMOKE, n=40, uplo="U", trans="T", diag="U"),
    *_rows(Tier.FULL, n=1, **_EVERY),
    *_rows(Tier.FULL, n=32, **_EVERY),
    *_rows(Tier.FULL, n=[127, 129], uplo=["L", "U"], trans=["N", "T"]),
    *_rows(Tier.FULL, n=71, incx=[-1, 3, -2], uplo=["L", "U"], padding=2),
    *_rows(Tier.FULL, n=17, padding=1, values=UNREAD_NAN, **_EVERY),
    *_rows(Tier.FULL, n=0),
    *_rows(Tier.FULL, n=19, uplo=["L", "U"], trans=["N", "T"], values=NAN_FIRST),
    *_rows(Tier.FULL, n=17, padding=1, layout=Layout.OFFSET),
    *_rows(Tier.BENCH, n=71),
    *_rows(Tier.BENCH, n=4096, trans=["N", "T"]),
)


def make_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """A: a flat column-major buffer of which one triangle is read, x: a flat buffer.

    In "unread nan" the other triangle, the padding and a diagonal of ones are NaN; in "nan first" the first solved
    element is NaN.
    """
    n, incx, uplo, trans = case.size("n"), case.size("incx"), case.word("uplo"), case.word("trans")
    a, lda, _ = triangular_buffer(case, n, rng)
    x, _ = vector_buffer(case, n, incx, rng)
    if case.word("values") == NAN_FIRST:
        right = vector_of(x, n, incx).clone()
        right[0, 0 if is_forward(uplo, trans) else n - 1] = torch.nan
        write_vector(x, incx, right)
    a, x = placed(case, a, x)
    return uplo, trans, case.word("diag"), n, a, lda, x, incx


def reference(
    uplo: str, trans: str, diag: str, n: int, a: torch.Tensor, lda: int, x: torch.Tensor, incx: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """The solution, as the returned tensor and as the argument; by substitution in float64."""
    final = x.clone()
    right = widened(vector_of(x, n, incx)).mT
    solution = solved(widened(matrix_of(a, lda, n, n)[0]), uplo, trans, diag, right)
    write_vector(final, incx, solution.mT.to(x.dtype))
    return final, final


def eager(
    uplo: str, trans: str, diag: str, n: int, a: torch.Tensor, lda: int, x: torch.Tensor, incx: int
) -> torch.Tensor:
    """PyTorch's solver on views of the buffers."""
    matrix = transformed(matrix_of(a, lda, n, n)[0], trans)
    solution = torch.linalg.solve_triangular(
        matrix, vector_of(x, n, incx).mT, upper=not is_forward(uplo, trans), unitriangular=diag == "U"
    )
    write_vector(x, incx, solution.mT)
    return x


def cost(case: Case) -> Cost:
    """One multiply-add for each element of the triangle that is read."""
    n = case.size("n")
    read = n * (n + 1) // 2 - (n if case.word("diag") == "U" else 0)
    return Cost(flops=2 * read, bytes_read=(read + n) * case.dtype.bytes, bytes_written=n * case.dtype.bytes)


PROBLEM = ProblemDefinition(
    name="cublas::cublasStrsv_v2",
    entry="cublasStrsv_v2",
    signature=(
        "cublasStrsv_v2(uplo: str, trans: str, diag: str, n: int, A: Tensor, lda: int, x: Tensor, incx: int) -> Tensor"
    ),
    summary="op(A)x = b for one vector",
    category=Category.BLAS2_TRSV,
    second_oracle="SciPy's BLAS routine trsv, in double precision",
    cases=CASES,
    make_inputs=make_inputs,
    reference=reference,
    eager=eager,
    tolerance=solve_tolerance,
    cost=cost,
    mutates=("x",),
    cannot_reject=SOLVES_LEAVE_OPEN,
    structured=("A",),
)
