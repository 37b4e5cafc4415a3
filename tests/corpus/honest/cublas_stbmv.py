# kgtui: op=cublas::cublasStbmv_v2 expect=pass
"""x = op(A) @ x of a triangular band: the product goes to a buffer of its own first, since every row reads others' x."""

import torch
import triton
import triton.language as tl


@triton.jit
def tbmv_kernel(
    a_ptr, x_ptr, product_ptr, n, k, diagonals, lda, x_first, incx,
    LOWER: tl.constexpr, FORWARD: tl.constexpr, UNIT: tl.constexpr, BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    if UNIT:
        total += tl.load(x_ptr + x_first + row * incx, mask=row < n, other=0.0)
    for distance in range(1 if UNIT else 0, diagonals):
        # Element p of this diagonal couples p and p + distance.
        other = row + distance if FORWARD else row - distance
        inside = (row < n) & (other >= 0) & (other < n)
        coupling = row if FORWARD else other
        band_row = distance if LOWER else k - distance
        shift = 0 if LOWER else distance
        a = tl.load(a_ptr + band_row + (coupling + shift) * lda, mask=inside, other=0.0)
        total += a * tl.load(x_ptr + x_first + other * incx, mask=inside, other=0.0)
    tl.store(product_ptr + row, total, mask=row < n)


@triton.jit
def store_kernel(product_ptr, x_ptr, n, x_first, incx, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + x_first + row * incx, tl.load(product_ptr + row, mask=row < n), mask=row < n)


def cublasStbmv_v2(uplo, trans, diag, n, k, A, lda, x, incx):
    if n == 0:
        return x
    x_first = (1 - n) * incx if incx < 0 else 0
    product = torch.empty(n, dtype=x.dtype, device=x.device)
    grid = (triton.cdiv(n, 256),)
    tbmv_kernel[grid](
        A, x, product, n, k, min(k, n - 1) + 1, lda, x_first, incx,
        LOWER=uplo == "L", FORWARD=(uplo == "U") == (trans == "N"), UNIT=diag == "U", BLOCK=256,
    )
    store_kernel[grid](product, x, n, x_first, incx, BLOCK=256)
    return x
