"""Triangular solves for several right-hand sides: op(A) X = alpha * B or X op(A) = alpha * B; B becomes X.

Shapes: B: (m, n), A: (m, m) for the side "L", (n, n) for "R", each `batch` times.
"""

from __future__ import annotations

from functools import partial

from engine.model import Case, Cost, DType, Tier
from problems.kit.blas.buffers import UNREAD_NAN, batch_of, matrix_buffer
from problems.kit.blas.gemm import NOTHING_READ
from problems.kit.blas.scalars import COMPLEX_DTYPES, parts_of, scalar_of, scalar_parameter
from problems.kit.blas.tables import case_table
from problems.kit.blas.triangular import NAN_FIRST, is_forward, solved_from, triangular_buffer
from problems.kit.blas.views import matrix_of, transformed, widened
from problems.kit.deferred import torch
from problems.kit.layouts import Layout


def trsm_buffers(
    case: Case, rng: torch.Generator
) -> tuple[tuple[torch.Tensor, int, int], tuple[torch.Tensor, int, int]]:
    """The buffer, the leading dimension and the batch stride of A and B."""
    m, n, side = case.size("m"), case.size("n"), case.word("side")
    a, lda, stride_a = triangular_buffer(case, m if side == "L" else n, rng)
    b, ldb, stride_b = matrix_buffer(case, m, n, case.size("padding"), rng, batch=batch_of(case))
    if case.word("values") == NAN_FIRST:
        forward = is_forward(case.word("uplo"), case.word("trans")) == (side == "L")
        right = matrix_of(b, ldb, m, n)[0]
        line = right[:, n // 2] if side == "L" else right[m // 2]
        line[0 if forward else len(line) - 1] = torch.nan
    if case.word("values") == NOTHING_READ:
        a.fill_(torch.nan)
        matrix_of(b, ldb, m, n, batch=batch_of(case), stride=stride_b).fill_(torch.nan)
    return (a, lda, stride_a), (b, ldb, stride_b)


def trsm_reference(
    side: str, uplo: str, trans: str, diag: str, m: int, n: int, alpha: complex, a: torch.Tensor, lda: int,
    b: torch.Tensor, ldb: int,
) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
    """The solution in place of B, as the returned tensor and as the argument; by substitution."""
    final, order = b.clone(), m if side == "L" else n
    matrix, right = matrix_of(a, lda, order, order)[0], matrix_of(final, ldb, m, n)[0]
    if alpha == 0:
        right.zero_()
    else:
        right.copy_(solved_from(side, widened(matrix), uplo, trans, diag, alpha * widened(right)))
    return final, final


def trsm_eager(
    side: str, uplo: str, trans: str, diag: str, m: int, n: int, alpha: complex, a: torch.Tensor, lda: int,
    b: torch.Tensor, ldb: int,
) -> torch.Tensor:  # fmt: skip
    """PyTorch's solver on views of the buffers."""
    order, right = m if side == "L" else n, matrix_of(b, ldb, m, n)[0]
    if alpha == 0:
        right.zero_()
    else:
        solution = torch.linalg.solve_triangular(
            transformed(matrix_of(a, lda, order, order)[0], trans), alpha * right, upper=not is_forward(uplo, trans),
            left=side == "L", unitriangular=diag == "U",
        )  # fmt: skip
        right.copy_(solution)
    return b


def solve_cost(case: Case) -> Cost:
    """One multiply-add for each element of the triangle and each right-hand side; nothing is read if alpha is 0."""
    m, n, batch = case.size("m"), case.size("n"), batch_of(case)
    order, others = (m, n) if case.word("side") == "L" else (n, m)
    triangle = order * (order + 1) // 2 - (order if case.word("diag") == "U" else 0)
    used = scalar_of(case, "alpha") != 0
    return Cost(
        flops=2 * batch * triangle * others * parts_of(case.dtype) ** 2 if used else 0,
        bytes_read=batch * (triangle + m * n) * case.dtype.bytes if used else 0,
        bytes_written=batch * m * n * case.dtype.bytes,
    )


def trsm_cases(label: str, *, dtype: DType, **batching: int) -> tuple[Case, ...]:
    """Sides, triangles, operations and diagonals; sizes around the block sizes of kernels, scalars, unread elements."""
    scale = partial(scalar_parameter, dtype)
    rows = case_table(
        label, dtype=dtype, side="L", uplo="L", trans="N", diag="N", alpha=scale(1.0), padding=0, **batching
    )
    operations = ["N", "T", "C"] if dtype in COMPLEX_DTYPES else ["N", "T"]
    return (
        *rows(Tier.SMOKE, m=33, n=5, alpha=scale(0.5, -1), padding=3),
        *rows(Tier.SMOKE, m=9, n=20, side="R", uplo="U", trans="T", diag="U"),
        *rows(Tier.FULL, m=1, n=1, side=["L", "R"]),
        *rows(Tier.FULL, m=16, n=8, side="L", uplo=["L", "U"], trans=operations, diag=["N", "U"]),
        *rows(Tier.FULL, m=8, n=17, side="R", uplo=["L", "U"], trans=operations, diag=["N", "U"], padding=1),
        *rows(Tier.FULL, m=[65, 129], n=17, uplo=["L", "U"], alpha=scale(-1.0, 0.5)),
        *rows(Tier.FULL, m=17, n=65, side="R", trans="T", alpha=scale(2.0)),
        *rows(Tier.FULL, m=11, n=7, side=["L", "R"], uplo=["L", "U"], diag="U", padding=2, values=UNREAD_NAN),
        *rows(Tier.FULL, m=11, n=7, side="L", alpha=scale(0.0), padding=2, values=NOTHING_READ),
        *rows(Tier.FULL, m=0, n=5, side=["L", "R"]),
        *rows(Tier.FULL, m=5, n=0, side=["L", "R"]),
        *rows(Tier.FULL, m=13, n=9, side=["L", "R"], uplo=["L", "U"], trans=["N", "T"], values=NAN_FIRST),
        *rows(Tier.FULL, m=17, n=9, padding=1, layout=Layout.OFFSET),
        *rows(Tier.BENCH, m=64, n=16),
        *rows(Tier.BENCH, m=512, n=512, side=["L", "R"]),
    )
