"""Rank-one updates A = alpha * x * y^T + A of a general matrix; some routines conjugate y.

Shapes: x: (m,), y: (n,), A: (m, n).
"""

from __future__ import annotations

import math
from functools import partial

from engine.model import Case, Cost, DType, Tier, Tolerance
from problems.kit.blas.buffers import SPECIAL, fill_padding, matrix_buffer, placed, special_lines, vector_buffer
from problems.kit.blas.gemm import NOTHING_READ
from problems.kit.blas.scalars import parts_of, scalar_of, scalar_parameter
from problems.kit.blas.tables import case_table
from problems.kit.blas.views import matrix_of, vector_of, widened, write_vector
from problems.kit.cases import Arguments
from problems.kit.deferred import torch
from problems.kit.layouts import Layout
from problems.kit.tolerances import cancelling, of_few
from problems.kit.values import Special

_SPECIAL_OF_X = [Special.NAN, Special.INF, Special.NEGATIVE_INF, Special.SUBNORMAL]
_SPECIAL_OF_A = [*[Special.NEGATIVE_ZERO] * len(_SPECIAL_OF_X), Special.NAN, Special.INF, Special.NEGATIVE_INF]


def ger_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """x, y: flat buffers, A: a flat column-major buffer; values between and after the elements must not change.

    "special" has special values in the first elements of x and in rows of A, and NaN in its padding. In "nothing to
    read", where alpha is 0, all elements of x and y are NaN.
    """
    m, n, incx, incy = case.size("m"), case.size("n"), case.size("incx"), case.size("incy")
    x, _ = vector_buffer(case, m, incx, rng)
    y, _ = vector_buffer(case, n, incy, rng)
    a, lda, _ = matrix_buffer(case, m, n, case.size("padding"), rng)
    if case.word("values") == SPECIAL:
        column = vector_of(x, m, incx).T.clone()
        special_lines(column, case.dtype, rng, dim=1, rows=_SPECIAL_OF_X)
        write_vector(x, incx, column.T)
        special_lines(matrix_of(a, lda, m, n)[0], case.dtype, rng, dim=1, rows=_SPECIAL_OF_A)
        fill_padding(a, lda, m)
    if case.word("values") == NOTHING_READ:
        x, y = x.fill_(torch.nan), y.fill_(torch.nan)
    x, y, a = placed(case, x, y, a)
    return m, n, scalar_of(case, "alpha"), x, incx, y, incy, a, lda


def ger_reference(
    m: int, n: int, alpha: complex, x: torch.Tensor, incx: int, y: torch.Tensor, incy: int, a: torch.Tensor, lda: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """The final A, as the returned tensor and as the argument; computed in float64 or complex128."""
    final = a.clone()
    if alpha != 0:
        matrix = matrix_of(final, lda, m, n)[0]
        column, row = widened(vector_of(x, m, incx)).mT, widened(vector_of(y, n, incy))
        matrix.copy_(alpha * (column * row) + widened(matrix))
    return final, final


def ger_eager(
    m: int, n: int, alpha: complex, x: torch.Tensor, incx: int, y: torch.Tensor, incy: int, a: torch.Tensor, lda: int
) -> torch.Tensor:
    """PyTorch's outer product on views of the buffers."""
    if alpha != 0:
        outer = torch.outer(vector_of(x, m, incx)[0], vector_of(y, n, incy)[0])
        matrix_of(a, lda, m, n)[0].add_(outer, alpha=alpha)
    return a


def ger_tolerance(case: Case) -> Tolerance:
    """The products may be rounded before the sum with A, which may cancel."""
    size = math.hypot(1.0, abs(scalar_of(case, "alpha")))
    return of_few(cancelling(case.dtype), outputs=case.size("m") * case.size("n"), scale=size)


def ger_cost(case: Case) -> Cost:
    """One multiply-add for each element of A, and one multiplication for each of x; nothing if alpha is 0."""
    m, n = case.size("m"), case.size("n")
    used = scalar_of(case, "alpha") != 0
    read, written = m * n + m + n if used else 0, m * n if used else 0
    flops = (2 * m * n + m) * parts_of(case.dtype) ** 2 if used else 0
    return Cost(flops=flops, bytes_read=read * case.dtype.bytes, bytes_written=written * case.dtype.bytes)


def ger_cases(*, dtype: DType) -> tuple[Case, ...]:
    """Sizes around the block sizes of kernels, scalars, increments of both signs, padding, special values."""
    scale = partial(scalar_parameter, dtype)
    rows = case_table("{m}x{n} inc {incx} {incy}", dtype=dtype, alpha=scale(1.0), incx=1, incy=1, padding=0)
    return (
        *rows(Tier.SMOKE, m=33, n=20, alpha=scale(-0.75, 0.5), padding=3),
        *rows(Tier.SMOKE, m=17, n=40, alpha=scale(0.5, 2.0), incx=2, incy=-3, padding=1),
        *rows(Tier.FULL, m=1, n=1),
        *rows(Tier.FULL, m=[16, 127, 129], n=[31, 64], alpha=scale(0.5, -0.25)),
        *rows(Tier.FULL, m=71, n=32, incx=[-1, 3], incy=[-2, 1], padding=2),
        *rows(Tier.FULL, m=1025, n=3),
        *rows(Tier.FULL, m=3, n=1025, alpha=scale(100.0, 1.0)),
        *rows(Tier.FULL, m=12, n=8, alpha=scale(0.0), padding=2, values=NOTHING_READ),
        *rows(Tier.FULL, m=0, n=5),
        *rows(Tier.FULL, m=5, n=0, padding=2),
        *rows(Tier.FULL, m=9, n=13, padding=2, incx=2, values=SPECIAL),
        *rows(Tier.FULL, m=17, n=9, incy=2, padding=1, layout=Layout.OFFSET),
        *rows(Tier.BENCH, m=71, n=497),
        *rows(Tier.BENCH, m=4096, n=4096),
    )
