# kgtui: op=cublas::cublasDsbmv_v2 expect=pass
"""y = alpha * A @ x + beta * y of a symmetric band: a row meets each stored diagonal on its left and on its right."""

import triton
import triton.language as tl


@triton.jit
def sbmv_kernel(
    a_ptr, x_ptr, y_ptr, n, k, diagonals, alpha: tl.float64, beta: tl.float64, lda, x_first, y_first, incx, incy,
    LOWER: tl.constexpr, READ_Y: tl.constexpr, BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=tl.float64)
    for distance in range(0, diagonals):
        # Element p of this diagonal couples p and p + distance, and is stored in the column of one of them.
        band_row = distance if LOWER else k - distance
        shift = 0 if LOWER else distance
        right = row + distance < n
        a = tl.load(a_ptr + band_row + (row + shift) * lda, mask=right, other=0.0)
        total += a * tl.load(x_ptr + x_first + (row + distance) * incx, mask=right, other=0.0)
        left = (row - distance >= 0) & (row < n) & (distance > 0)
        a = tl.load(a_ptr + band_row + (row - distance + shift) * lda, mask=left, other=0.0)
        total += a * tl.load(x_ptr + x_first + (row - distance) * incx, mask=left, other=0.0)
    y_at = y_ptr + y_first + row * incy
    y = alpha * total
    if READ_Y:
        y += beta * tl.load(y_at, mask=row < n, other=0.0)
    tl.store(y_at, y, mask=row < n)


def cublasDsbmv_v2(uplo, n, k, alpha, A, lda, x, incx, beta, y, incy):
    if n == 0:
        return y
    x_first = (1 - n) * incx if incx < 0 else 0
    y_first = (1 - n) * incy if incy < 0 else 0
    diagonals = 0 if alpha == 0 else min(k, n - 1) + 1
    sbmv_kernel[(triton.cdiv(n, 256),)](
        A, x, y, n, k, diagonals, alpha, beta, lda, x_first, y_first, incx, incy,
        LOWER=uplo == "L", READ_Y=beta != 0, BLOCK=256,
    )
    return y
