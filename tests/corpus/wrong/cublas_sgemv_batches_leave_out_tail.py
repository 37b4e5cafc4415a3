# kgtui: op=cublas::cublasSgemvStridedBatched expect=wrong_value diagnosis=tail_mask case="2x 33x20 N inc 2 1 alpha 2 beta -0.5 padding 3"
"""The loop along the rows of A ends at its last whole block of 16 columns."""

import triton
import triton.language as tl


@triton.jit
def gemv_kernel(
    a_ptr, x_ptr, y_ptr, rows, depth, alpha, beta, a_row, a_col, a_batch, x_batch, y_batch, x_first, y_first, incx, incy,
    READ_Y: tl.constexpr, BLOCK: tl.constexpr, DEPTH: tl.constexpr,
):
    batch = tl.program_id(1).to(tl.int64)
    row = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for step in range(depth // DEPTH):
        col = step * DEPTH + tl.arange(0, DEPTH).to(tl.int64)
        at = a_ptr + batch * a_batch + row[:, None] * a_row + col[None, :] * a_col
        a = tl.load(at, mask=(row < rows)[:, None], other=0.0)
        x = tl.load(x_ptr + batch * x_batch + x_first + col * incx)
        total += tl.sum(a * x[None, :], axis=1)
    y_at = y_ptr + batch * y_batch + y_first + row * incy
    y = alpha * total
    if READ_Y:
        y += beta * tl.load(y_at, mask=row < rows, other=0.0)
    tl.store(y_at, y, mask=row < rows)


def cublasSgemvStridedBatched(trans, m, n, alpha, A, lda, strideA, x, incx, stridex, beta, y, incy, stridey, batchCount):
    rows, depth = (m, n) if trans == "N" else (n, m)
    if m == 0 or n == 0 or (alpha == 0 and beta == 1):
        return y
    a_row, a_col = (1, lda) if trans == "N" else (lda, 1)
    x_first = (1 - depth) * incx if incx < 0 else 0
    y_first = (1 - rows) * incy if incy < 0 else 0
    depth = 0 if alpha == 0 else depth
    gemv_kernel[(triton.cdiv(rows, 64), batchCount)](
        A, x, y, rows, depth, alpha, beta, a_row, a_col, strideA, stridex, stridey, x_first, y_first, incx, incy,
        READ_Y=beta != 0, BLOCK=64, DEPTH=16,
    )
    return y
