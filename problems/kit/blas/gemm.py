"""Matrix products C = alpha * op(A) @ op(B) + beta * C: one product, and batches with fixed strides.

Shapes: op(A): (m, k), op(B): (k, n), C: (m, n), each `batch` times.
"""

from __future__ import annotations

from dataclasses import replace

from engine.model import Case, Cost, Tolerance
from problems.kit.blas.buffers import SPECIAL, batch_of, fill_padding, matrix_buffer, placed, special_lines
from problems.kit.blas.scalars import parts_of, scalar_of
from problems.kit.blas.views import matrix_of, operand_of, scaled_or_zero, widened
from problems.kit.cases import Arguments
from problems.kit.deferred import torch
from problems.kit.products import repeated_ends, with_detour
from problems.kit.tolerances import rounded
from problems.kit.values import Special

NOTHING_READ = "nothing to read"
"""Value of the case parameter `values` if alpha or k is 0: all elements of A and B are NaN."""
DETOUR = "detour"
"""Value of the case parameter `values` if partial sums are far larger than the sums."""

_ROWS = [Special.NAN, Special.INF, Special.NEGATIVE_INF, Special.SUBNORMAL]
_COLUMNS = [Special.NAN, Special.NEGATIVE_INF]
_OLD = [*[Special.NEGATIVE_ZERO] * len(_ROWS), Special.NAN, Special.INF, Special.NEGATIVE_INF]


def gemm_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """A, B, C: flat buffers of leading dimension times columns; element (i, j) of A is A[i + j * lda].

    The `padding` rows after the rows of a matrix must not change. If beta is 0, C is NaN and must not be read.
    "special" has special values in rows of op(A), columns of op(B) and in C, and NaN in the padding.  In "nothing to
    read" all elements of A and B are NaN.  "detour" is `problems.kit.products.with_detour`.
    """
    (a, lda, _), (b, ldb, _), (c, ldc, _) = gemm_buffers(case, rng)
    a, b, c = placed(case, a, b, c)
    m, n, k = case.size("m"), case.size("n"), case.size("k")
    return (
        *tuple(case.word("trans")),
        m,
        n,
        k,
        scalar_of(case, "alpha"),
        a,
        lda,
        b,
        ldb,
        scalar_of(case, "beta"),
        c,
        ldc,
    )


def strided_gemm_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """A, B, C: flat buffers; matrix b begins at b times the stride, and `gap` elements after each must not change.

    "shared" has one A for the whole batch, with a stride of 0; "far" has a batch of one matrix and strides of 2 ** 40
    elements, which are therefore never used. The rest is as in `gemm_inputs`.
    """
    (a, lda, stride_a), (b, ldb, stride_b), (c, ldc, stride_c) = gemm_buffers(case, rng)
    a, b, c = placed(case, a, b, c)
    m, n, k, batch = case.size("m"), case.size("n"), case.size("k"), case.size("batch")
    if case.word("strides") == "shared":
        stride_a = 0
    if case.word("strides") == "far":
        stride_a = stride_b = stride_c = 2**40
    alpha, beta = scalar_of(case, "alpha"), scalar_of(case, "beta")
    return (
        *tuple(case.word("trans")), m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c, ldc, stride_c, batch,
    )  # fmt: skip


def gemm_buffers(case: Case, rng: torch.Generator) -> tuple[tuple[torch.Tensor, int, int], ...]:
    """The buffer, the leading dimension and the batch stride of A, B and C."""
    m, n, k, batch = case.size("m"), case.size("n"), case.size("k"), batch_of(case)
    transa, transb = tuple(case.word("trans").upper())
    a_shape, b_shape = (m, k) if transa == "N" else (k, m), (k, n) if transb == "N" else (n, k)
    shapes = a_shape, b_shape, (m, n)
    padding, gap = case.size("padding"), case.size("gap") if "gap" in case.params else 0
    made = tuple(matrix_buffer(case, *shape, padding, rng, batch=batch, gap=gap) for shape in shapes)
    if case.word("values") == SPECIAL:
        _make_special(case, made, shapes, rng)
    if case.word("values") == DETOUR:
        _make_detour(made, transa, transb, sizes=(m, n, k), batch=batch)
    if case.word("values") == NOTHING_READ:
        made[0][0].fill_(torch.nan)
        made[1][0].fill_(torch.nan)
    if scalar_of(case, "beta") == 0:
        c, leading, stride = made[2]
        matrix_of(c, leading, m, n, batch=batch, stride=stride).fill_(torch.nan)
    return made


def _make_special(
    case: Case,
    made: tuple[tuple[torch.Tensor, int, int], ...],
    shapes: tuple[tuple[int, int], ...],
    rng: torch.Generator,
) -> None:
    """Special rows in op(A), columns in op(B) and rows in C, all in matrix 0 of the batch; NaN in all padding rows."""
    transa, transb = tuple(case.word("trans").upper())
    along = 1 if transa == "N" else 0, 0 if transb == "N" else 1, 1
    for (buffer, leading, stride), shape, dim, kinds in zip(made, shapes, along, (_ROWS, _COLUMNS, _OLD), strict=True):
        first = buffer[: stride or None]
        special_lines(matrix_of(first, leading, *shape)[0], case.dtype, rng, dim=dim, rows=kinds)
        fill_padding(first[: leading * shape[1]], leading, shape[0])


def _make_detour(
    made: tuple[tuple[torch.Tensor, int, int], ...],
    transa: str,
    transb: str,
    *,
    sizes: tuple[int, int, int],
    batch: int,
) -> None:
    """Large partial sums in all matrices of the batch, which cancel at the end of K."""
    (a, lda, stride_a), (b, ldb, stride_b), _ = made
    m, n, k = sizes
    left = operand_of(a, lda, m, k, transa, batch=batch, stride=stride_a)
    right = operand_of(b, ldb, k, n, transb, batch=batch, stride=stride_b)
    left.copy_(with_detour(left))
    right.copy_(repeated_ends(right).abs())


def add_product(matrix: torch.Tensor, left: torch.Tensor, right: torch.Tensor, alpha: complex, beta: complex) -> None:
    """matrix = alpha * left @ right + beta * matrix in float64 or complex128, then rounded; batches of matrices."""
    total = scaled_or_zero(beta, widened(matrix))
    if alpha != 0:
        total += alpha * (widened(left) @ widened(right))
    matrix.copy_(total)


def gemm_reference(
    transa: str, transb: str, m: int, n: int, k: int, alpha: complex, a: torch.Tensor, lda: int,
    b: torch.Tensor, ldb: int, beta: complex, c: torch.Tensor, ldc: int,
) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
    """The final C, as the returned tensor and as the argument; computed in float64 or complex128."""
    return strided_gemm_reference(transa, transb, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0, 1)


def strided_gemm_reference(
    transa: str, transb: str, m: int, n: int, k: int, alpha: complex, a: torch.Tensor, lda: int, stride_a: int,
    b: torch.Tensor, ldb: int, stride_b: int, beta: complex, c: torch.Tensor, ldc: int, stride_c: int, batch: int,
) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
    """The final C, as the returned tensor and as the argument; computed in float64 or complex128."""
    final = c.clone()
    left = operand_of(a, lda, m, k, transa.upper(), batch=batch, stride=stride_a)
    right = operand_of(b, ldb, k, n, transb.upper(), batch=batch, stride=stride_b)
    add_product(matrix_of(final, ldc, m, n, batch=batch, stride=stride_c), left, right, alpha, beta)
    return final, final


def gemm_eager(
    transa: str, transb: str, m: int, n: int, k: int, alpha: complex, a: torch.Tensor, lda: int,
    b: torch.Tensor, ldb: int, beta: complex, c: torch.Tensor, ldc: int,
) -> torch.Tensor:  # fmt: skip
    """PyTorch's product and sum on views of the buffers."""
    left, right = operand_of(a, lda, m, k, transa.upper())[0], operand_of(b, ldb, k, n, transb.upper())[0]
    matrix = matrix_of(c, ldc, m, n)[0]
    if alpha == 0 or k == 0:
        matrix.copy_(scaled_or_zero(beta, matrix))
    else:
        matrix.copy_(torch.addmm(matrix, left, right, beta=beta, alpha=alpha))
    return c


def strided_gemm_eager(
    transa: str, transb: str, m: int, n: int, k: int, alpha: complex, a: torch.Tensor, lda: int, stride_a: int,
    b: torch.Tensor, ldb: int, stride_b: int, beta: complex, c: torch.Tensor, ldc: int, stride_c: int, batch: int,
) -> torch.Tensor:  # fmt: skip
    """PyTorch's batched product and sum on views of the buffers."""
    left = operand_of(a, lda, m, k, transa.upper(), batch=batch, stride=stride_a)
    right = operand_of(b, ldb, k, n, transb.upper(), batch=batch, stride=stride_b)
    matrix = matrix_of(c, ldc, m, n, batch=batch, stride=stride_c)
    if alpha == 0 or k == 0:
        matrix.copy_(scaled_or_zero(beta, matrix))
    else:
        matrix.copy_(torch.baddbmm(matrix, left, right, beta=beta, alpha=alpha))
    return c


def gemm_tolerance(case: Case) -> Tolerance:
    """Sums over K and the sum with C, which may cancel; a complex product has two terms."""
    return rounded(case.dtype, terms=parts_of(case.dtype) * case.size("k") + 4)


def half_gemm_tolerance(case: Case) -> Tolerance:
    """Sums over K in float32; the sum, its products with alpha and beta, and the answer may each be rounded to float16.

    With e = 2 ** -10, the expected value y, the sum S and old values C, the roundings of y, of the answer, of S and of
    alpha * S are e / 2 of each at most, and that of beta * C likewise: e * (2 * |y| + 1.5 * |beta * C|) in all, since
    |alpha * S| <= |y| + |beta * C|.  Allowed are three units of y and one of the root mean square of all outputs.  A
    sum that is carried in float16 loses several units and is rejected.
    """
    tolerance = rounded(case.dtype, roundings=2, terms=case.size("k") + 4)
    return replace(tolerance, absolute=tolerance.absolute + case.dtype.epsilon / 2)


def gemm_cost(case: Case) -> Cost:
    """One multiply-add for each of M * N * K, none if alpha is 0; C is read only if beta is not 0.

    A complex multiply-add is four real ones.
    """
    m, n, batch = case.size("m"), case.size("n"), batch_of(case)
    k = case.size("k") if scalar_of(case, "alpha") != 0 else 0
    lefts = 1 if case.params.get("strides") == "shared" else batch
    read = lefts * m * k + batch * (k * n + (m * n if scalar_of(case, "beta") != 0 else 0))
    return Cost(
        flops=2 * batch * m * n * k * parts_of(case.dtype) ** 2,
        bytes_read=read * case.dtype.bytes,
        bytes_written=batch * m * n * case.dtype.bytes,
    )
