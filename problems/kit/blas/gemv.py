"""Matrix-vector products y = alpha * op(A) @ x + beta * y: one product, and batches with fixed strides.

Shapes: A: (m, n), x: (n,) and y: (m,) for "N", x: (m,) and y: (n,) otherwise, each `batch` times.
"""

from __future__ import annotations

import math
from functools import partial

from engine.model import Case, Cost, DType, Tier, Tolerance
from problems.kit.blas.buffers import (
    SPECIAL,
    batch_of,
    fill_padding,
    matrix_buffer,
    placed,
    special_lines,
    vector_buffer,
)
from problems.kit.blas.gemm import NOTHING_READ
from problems.kit.blas.scalars import COMPLEX_DTYPES, parts_of, scalar_of, scalar_parameter
from problems.kit.blas.tables import CaseTable, case_table
from problems.kit.blas.views import (
    matrix_of,
    scaled_or_zero,
    transformed,
    vector_of,
    widened,
    write_vector,
)
from problems.kit.cases import Arguments
from problems.kit.deferred import torch
from problems.kit.layouts import Layout
from problems.kit.tolerances import of_few, rounded
from problems.kit.values import Special

_LINES = [Special.NAN, Special.INF, Special.NEGATIVE_INF, Special.SUBNORMAL]
_BEFORE = [*[Special.NEGATIVE_ZERO] * len(_LINES), Special.NAN, Special.INF, Special.NEGATIVE_INF]


def gemv_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """A: a flat column-major buffer, x, y: flat buffers; values between and after the elements must not change.

    If beta is 0, y is NaN and must not be read.  "special" has special values in rows of op(A) and in y, and NaN in the
    padding of A. In "nothing to read" all elements of A and x are NaN.
    """
    (a, lda, _), (x, _), (y, _) = gemv_buffers(case, rng)
    a, x, y = placed(case, a, x, y)
    alpha, beta = scalar_of(case, "alpha"), scalar_of(case, "beta")
    m, n, incx, incy = case.size("m"), case.size("n"), case.size("incx"), case.size("incy")
    return case.word("trans"), m, n, alpha, a, lda, x, incx, beta, y, incy


def strided_gemv_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """A, x, y: flat buffers; those of batch b begin at b times their stride.

    "shared" has one A for the whole batch, with a stride of 0.  The rest is as in `gemv_inputs`.
    """
    (a, lda, stride_a), (x, stride_x), (y, stride_y) = gemv_buffers(case, rng)
    a, x, y = placed(case, a, x, y)
    stride_a = 0 if case.word("strides") == "shared" else stride_a
    alpha, beta, batch = scalar_of(case, "alpha"), scalar_of(case, "beta"), case.size("batch")
    m, n, incx, incy = case.size("m"), case.size("n"), case.size("incx"), case.size("incy")
    return case.word("trans"), m, n, alpha, a, lda, stride_a, x, incx, stride_x, beta, y, incy, stride_y, batch


def gemv_buffers(
    case: Case, rng: torch.Generator
) -> tuple[tuple[torch.Tensor, int, int], tuple[torch.Tensor, int], tuple[torch.Tensor, int]]:
    """The buffer, the leading dimension and the batch stride of A; the buffer and the batch stride of x and y."""
    m, n, batch, values = case.size("m"), case.size("n"), batch_of(case), case.word("values")
    count_x, count_y = (n, m) if case.word("trans") == "N" else (m, n)
    incx, incy = case.size("incx"), case.size("incy")
    a, lda, stride_a = matrix_buffer(case, m, n, case.size("padding"), rng, batch=batch, gap=2 if batch > 1 else 0)
    x, stride_x = vector_buffer(case, count_x, incx, rng, batch=batch)
    y, stride_y = vector_buffer(case, count_y, incy, rng, batch=batch)
    if values == SPECIAL:
        first = a[: stride_a or None]
        dim = 1 if case.word("trans") == "N" else 0
        special_lines(matrix_of(first, lda, m, n)[0], case.dtype, rng, dim=dim, rows=_LINES)
        fill_padding(first[: lda * n], lda, m)
        old = vector_of(y, count_y, incy).T.clone()
        special_lines(old, case.dtype, rng, dim=1, rows=_BEFORE)
        write_vector(y, incy, old.T)
    if values == NOTHING_READ:
        a, x = a.fill_(torch.nan), x.fill_(torch.nan)
    if scalar_of(case, "beta") == 0:
        write_vector(y, incy, torch.full((batch, count_y), torch.nan, dtype=y.dtype), stride=stride_y)
    return (a, lda, stride_a), (x, stride_x), (y, stride_y)


def gemv_reference(
    trans: str, m: int, n: int, alpha: complex, a: torch.Tensor, lda: int, x: torch.Tensor, incx: int, beta: complex,
    y: torch.Tensor, incy: int,
) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
    """The final y, as the returned tensor and as the argument; computed in float64 or complex128."""
    return strided_gemv_reference(trans, m, n, alpha, a, lda, 0, x, incx, 0, beta, y, incy, 0, 1)


def strided_gemv_reference(
    trans: str, m: int, n: int, alpha: complex, a: torch.Tensor, lda: int, stride_a: int, x: torch.Tensor, incx: int,
    stride_x: int, beta: complex, y: torch.Tensor, incy: int, stride_y: int, batch: int,
) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
    """The final y, as the returned tensor and as the argument; computed in float64 or complex128."""
    final = y.clone()
    if m == 0 or n == 0:
        return final, final
    matrix = transformed(matrix_of(a, lda, m, n, batch=batch, stride=stride_a), trans)
    vector = vector_of(x, matrix.shape[2], incx, batch=batch, stride=stride_x)
    old = vector_of(final, matrix.shape[1], incy, batch=batch, stride=stride_y)
    total = scaled_or_zero(beta, widened(old))
    if alpha != 0:
        total += alpha * (widened(matrix) * widened(vector)[:, None, :]).sum(-1)
    write_vector(final, incy, total.to(y.dtype), stride=stride_y)
    return final, final


def gemv_eager(
    trans: str, m: int, n: int, alpha: complex, a: torch.Tensor, lda: int, x: torch.Tensor, incx: int, beta: complex,
    y: torch.Tensor, incy: int,
) -> torch.Tensor:  # fmt: skip
    """PyTorch's product and sum on views of the buffers."""
    return strided_gemv_eager(trans, m, n, alpha, a, lda, 0, x, incx, 0, beta, y, incy, 0, 1)


def strided_gemv_eager(
    trans: str, m: int, n: int, alpha: complex, a: torch.Tensor, lda: int, stride_a: int, x: torch.Tensor, incx: int,
    stride_x: int, beta: complex, y: torch.Tensor, incy: int, stride_y: int, batch: int,
) -> torch.Tensor:  # fmt: skip
    """PyTorch's batched product and sum on views of the buffers."""
    if m == 0 or n == 0:
        return y
    matrix = transformed(matrix_of(a, lda, m, n, batch=batch, stride=stride_a), trans)
    vector = vector_of(x, matrix.shape[2], incx, batch=batch, stride=stride_x)
    total = scaled_or_zero(beta, vector_of(y, matrix.shape[1], incy, batch=batch, stride=stride_y))
    if alpha != 0:
        total = total + alpha * torch.bmm(matrix, vector[:, :, None])[:, :, 0]
    write_vector(y, incy, total, stride=stride_y)
    return y


def gemv_tolerance(case: Case) -> Tolerance:
    """A sum over the length of x, and the sum with y, which may cancel; a complex product has two terms."""
    terms, outputs = (case.size("n"), case.size("m")) if case.word("trans") == "N" else (case.size("m"), case.size("n"))
    size = math.hypot(math.sqrt(terms) * abs(scalar_of(case, "alpha")), abs(scalar_of(case, "beta")))
    usual = rounded(case.dtype, terms=parts_of(case.dtype) * terms + 4)
    if not outputs:
        return usual
    return of_few(usual, outputs=batch_of(case) * outputs, scale=size / 2)  # y has elements between outputs, too


def gemv_cost(case: Case) -> Cost:
    """One multiply-add for each element of A, none if alpha is 0; y is read only if beta is not 0."""
    m, n = case.size("m"), case.size("n")
    batch = batch_of(case) if m and n else 0
    count_x, count_y = (n, m) if case.word("trans") == "N" else (m, n)
    matrices = 1 if case.params.get("strides") == "shared" else batch
    read = matrices * m * n + batch * count_x if scalar_of(case, "alpha") != 0 else 0
    read += batch * count_y if scalar_of(case, "beta") != 0 else 0
    flops = 2 * batch * m * n * parts_of(case.dtype) ** 2 if scalar_of(case, "alpha") != 0 else 0
    return Cost(flops=flops, bytes_read=read * case.dtype.bytes, bytes_written=batch * count_y * case.dtype.bytes)


def gemv_cases(*, dtype: DType) -> tuple[Case, ...]:
    """The cases of a single product."""
    rows = gemv_table(dtype, "{m}x{n} {trans} inc {incx} {incy}")
    return gemv_rows(dtype, rows) + rows(Tier.BENCH, m=4096, n=4096, trans=["N", "T"])


def strided_gemv_cases(*, dtype: DType) -> tuple[Case, ...]:
    """The cases of a batch with fixed strides; in "shared" the whole batch uses one A."""
    rows = gemv_table(dtype, "{batch}x {m}x{n} {trans} inc {incx} {incy}", batch=2, strides="own")
    return (
        *gemv_rows(dtype, rows),
        *rows(Tier.FULL, m=17, n=33, trans=["N", "T"], batch=[1, 5], incx=-2),
        *rows(Tier.FULL, m=16, n=8, trans=["N", "T"], batch=3, strides="shared", padding=1),
        *rows(Tier.FULL, m=5, n=6, batch=0),
        *rows(Tier.BENCH, m=1024, n=1024, trans=["N", "T"], batch=16),
    )


def gemv_table(dtype: DType, label: str, **plain: int | str) -> CaseTable:
    """Rows of the case table of products: y = A @ x of dense operands unless a row overrides fields."""
    one, zero = scalar_parameter(dtype, 1.0), scalar_parameter(dtype, 0.0)
    return case_table(label, dtype=dtype, trans="N", alpha=one, beta=zero, incx=1, incy=1, padding=0, **plain)


def gemv_rows(dtype: DType, rows: CaseTable) -> tuple[Case, ...]:
    """Table rows that single products and batches share."""
    scale = partial(scalar_parameter, dtype)
    operations = ["N", "T", "C"] if dtype in COMPLEX_DTYPES else ["N", "T"]
    zero, one, half = scale(0.0), scale(1.0), scale(0.5, -0.25)
    return (
        *rows(Tier.SMOKE, m=33, n=20, trans=["N", "T"], alpha=scale(2.0, 0.5), beta=scale(-0.5, 1), incx=2, padding=3),
        *rows(Tier.FULL, m=1, n=1),
        *rows(Tier.FULL, m=16, n=16, trans=operations, alpha=half, beta=half),
        *rows(Tier.FULL, m=17, n=[127, 129], trans=operations, alpha=scale(-1.0, 0.5), beta=one, incy=3, padding=1),
        *rows(Tier.FULL, m=129, n=31, trans=operations, incx=[-1, 3], incy=-2, beta=half, padding=2),
        *rows(Tier.FULL, m=3, n=1025, beta=half),
        *rows(Tier.FULL, m=12, n=8, alpha=zero, beta=[zero, one, half], padding=2, values=NOTHING_READ),
        *rows(Tier.FULL, m=0, n=5, trans=["N", "T"], beta=half),
        *rows(Tier.FULL, m=5, n=0, trans=["N", "T"], beta=half),
        *rows(Tier.FULL, m=9, n=13, trans=["N", "T"], beta=scale(-0.5), padding=2, incy=2, values=SPECIAL),
        *rows(Tier.FULL, m=17, n=9, trans="T", padding=1, layout=Layout.OFFSET),
        *rows(Tier.BENCH, m=497, n=71, beta=half),
    )
