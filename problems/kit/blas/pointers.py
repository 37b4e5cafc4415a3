"""Batches of pointers: each matrix or vector is in a separate buffer, at irregular distances.

The entry gets the addresses as an int64 tensor, writes to these addresses and returns nothing.
"""

from __future__ import annotations

from engine.model import Case, DType, PointerArray, Tier
from problems.kit.blas.buffers import batch_of, placed
from problems.kit.blas.gemm import gemm_buffers, gemm_eager, gemm_reference
from problems.kit.blas.gemm_cases import product_rows, product_table
from problems.kit.blas.gemv import gemv_buffers, gemv_eager, gemv_reference, gemv_rows, gemv_table
from problems.kit.blas.scalars import scalar_of, scalar_parameter
from problems.kit.blas.trsm import trsm_buffers, trsm_eager, trsm_reference
from problems.kit.cases import Arguments
from problems.kit.deferred import torch

_TAILS = (0, 320, 64, 448, 192)  # padding elements after the buffers of a batch, repeated cyclically


def pointers_to(case: Case, buffer: torch.Tensor, stride: int, *, is_shared: bool = False) -> PointerArray:
    """The buffers of a batch, views of one tensor, with tails of various lengths; one buffer for all if shared."""
    parts: list[torch.Tensor] = []
    for number in range(1 if is_shared else batch_of(case)):
        part = buffer[number * stride : (number + 1) * stride]
        tail = part[:1].expand(_TAILS[number % len(_TAILS)] if len(part) else 0)
        parts += placed(case, torch.cat((part, tail)))
    return PointerArray(tensors=tuple(parts * batch_of(case) if is_shared else parts))


def pointer_gemm_cases(*, dtype: DType) -> tuple[Case, ...]:
    """The cases of a batch of products; in "shared" all pointers refer to one A."""
    rows = product_table(dtype, "{batch}x {m}x{n}x{k} {trans}", batch=3, strides="own")
    half = scalar_parameter(dtype, 0.5)
    return (
        *product_rows(dtype, rows),
        *rows(Tier.FULL, m=17, n=9, k=21, batch=[1, 6], beta=half),
        *rows(Tier.FULL, m=16, n=33, k=8, trans=["NN", "TN"], strides="shared", beta=half),
        *rows(Tier.BENCH, m=512, n=512, k=512, batch=8),
    )


def pointer_gemm_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """Aarray, Barray, Carray: pointers to flat buffers as in a single product."""
    (a, lda, stride_a), (b, ldb, stride_b), (c, ldc, stride_c) = gemm_buffers(case, rng)
    is_shared = case.word("strides") == "shared"
    alpha, beta = scalar_of(case, "alpha"), scalar_of(case, "beta")
    return (
        *tuple(case.word("trans")), case.size("m"), case.size("n"), case.size("k"), alpha,
        pointers_to(case, a, stride_a, is_shared=is_shared), lda, pointers_to(case, b, stride_b), ldb, beta,
        pointers_to(case, c, stride_c), ldc, case.size("batch"),
    )  # fmt: skip


def pointer_gemm_reference(
    transa: str, transb: str, m: int, n: int, k: int, alpha: complex, a: PointerArray, lda: int, b: PointerArray,
    ldb: int, beta: complex, c: PointerArray, ldc: int, batch: int,
) -> tuple[torch.Tensor, ...]:  # fmt: skip
    """The final buffers of C; computed in float64 or complex128."""
    products = zip(a.tensors, b.tensors, c.tensors, strict=True)
    return tuple(
        gemm_reference(transa, transb, m, n, k, alpha, left, lda, right, ldb, beta, old, ldc)[1]
        for left, right, old in products
    )


def pointer_gemm_eager(
    transa: str, transb: str, m: int, n: int, k: int, alpha: complex, a: PointerArray, lda: int, b: PointerArray,
    ldb: int, beta: complex, c: PointerArray, ldc: int, batch: int,
) -> None:  # fmt: skip
    """PyTorch's product for one matrix after another."""
    for left, right, old in zip(a.tensors, b.tensors, c.tensors, strict=True):
        gemm_eager(transa, transb, m, n, k, alpha, left, lda, right, ldb, beta, old, ldc)


def pointer_gemv_cases(*, dtype: DType) -> tuple[Case, ...]:
    """The cases of a batch of matrix-vector products; in "shared" all pointers refer to one A."""
    rows = gemv_table(dtype, "{batch}x {m}x{n} {trans} inc {incx} {incy}", batch=3, strides="own")
    return (
        *gemv_rows(dtype, rows),
        *rows(Tier.FULL, m=17, n=33, trans=["N", "T"], batch=[1, 6], incx=-2),
        *rows(Tier.FULL, m=16, n=8, trans=["N", "T"], strides="shared", padding=1),
        *rows(Tier.BENCH, m=1024, n=1024, trans=["N", "T"], batch=16),
    )


def pointer_gemv_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """Aarray, xarray, yarray: pointers to flat buffers as in a single product."""
    (a, lda, stride_a), (x, stride_x), (y, stride_y) = gemv_buffers(case, rng)
    is_shared = case.word("strides") == "shared"
    alpha, beta = scalar_of(case, "alpha"), scalar_of(case, "beta")
    return (
        case.word("trans"), case.size("m"), case.size("n"), alpha,
        pointers_to(case, a, stride_a, is_shared=is_shared), lda, pointers_to(case, x, stride_x), case.size("incx"),
        beta, pointers_to(case, y, stride_y), case.size("incy"), case.size("batch"),
    )  # fmt: skip


def pointer_gemv_reference(
    trans: str, m: int, n: int, alpha: complex, a: PointerArray, lda: int, x: PointerArray, incx: int, beta: complex,
    y: PointerArray, incy: int, batch: int,
) -> tuple[torch.Tensor, ...]:  # fmt: skip
    """The final buffers of y; computed in float64 or complex128."""
    products = zip(a.tensors, x.tensors, y.tensors, strict=True)
    return tuple(
        gemv_reference(trans, m, n, alpha, matrix, lda, vector, incx, beta, old, incy)[1]
        for matrix, vector, old in products
    )


def pointer_gemv_eager(
    trans: str, m: int, n: int, alpha: complex, a: PointerArray, lda: int, x: PointerArray, incx: int, beta: complex,
    y: PointerArray, incy: int, batch: int,
) -> None:  # fmt: skip
    """PyTorch's product for one matrix after another."""
    for matrix, vector, old in zip(a.tensors, x.tensors, y.tensors, strict=True):
        gemv_eager(trans, m, n, alpha, matrix, lda, vector, incx, beta, old, incy)


def pointer_trsm_inputs(case: Case, rng: torch.Generator) -> Arguments:
    """Aarray, Barray: pointers to flat buffers as in a single solve."""
    (a, lda, stride_a), (b, ldb, stride_b) = trsm_buffers(case, rng)
    words = (case.word(name) for name in ("side", "uplo", "trans", "diag"))
    return (
        *words, case.size("m"), case.size("n"), scalar_of(case, "alpha"), pointers_to(case, a, stride_a), lda,
        pointers_to(case, b, stride_b), ldb, case.size("batch"),
    )  # fmt: skip


def pointer_trsm_reference(
    side: str, uplo: str, trans: str, diag: str, m: int, n: int, alpha: complex, a: PointerArray, lda: int,
    b: PointerArray, ldb: int, batch: int,
) -> tuple[torch.Tensor, ...]:  # fmt: skip
    """The solutions, in the buffers of B; by substitution in float64 or complex128."""
    solves = zip(a.tensors, b.tensors, strict=True)
    return tuple(
        trsm_reference(side, uplo, trans, diag, m, n, alpha, matrix, lda, right, ldb)[1] for matrix, right in solves
    )


def pointer_trsm_eager(
    side: str, uplo: str, trans: str, diag: str, m: int, n: int, alpha: complex, a: PointerArray, lda: int,
    b: PointerArray, ldb: int, batch: int,
) -> None:  # fmt: skip
    """PyTorch's solver for one matrix after another."""
    for matrix, right in zip(a.tensors, b.tensors, strict=True):
        trsm_eager(side, uplo, trans, diag, m, n, alpha, matrix, lda, right, ldb)
