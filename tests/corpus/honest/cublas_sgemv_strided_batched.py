# kgtui: op=cublas::cublasSgemvStridedBatched expect=pass
"""Batched matrix-vector products of floats with fixed strides between the matrices and vectors."""

import triton
import triton.language as tl


@triton.jit
def gemv_kernel(
    a_ptr, x_ptr, y_ptr, rows, depth, alpha, beta, a_row, a_col, a_batch, x_batch, y_batch, x_first, y_first, incx, incy,
    READ_Y: tl.constexpr, BLOCK_ROWS: tl.constexpr, BLOCK_DEPTH: tl.constexpr,
):
    batch = tl.program_id(1).to(tl.int64)
    a_ptr += batch * a_batch
    x_ptr += batch * x_batch
    y_ptr += batch * y_batch
    row = tl.program_id(0).to(tl.int64) * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)
    total = tl.zeros((BLOCK_ROWS,), dtype=tl.float32)
    for start in range(0, depth, BLOCK_DEPTH):
        col = start + tl.arange(0, BLOCK_DEPTH).to(tl.int64)
        inside = (row < rows)[:, None] & (col < depth)[None, :]
        a = tl.load(a_ptr + row[:, None] * a_row + col[None, :] * a_col, mask=inside, other=0.0)
        x = tl.load(x_ptr + x_first + col * incx, mask=col < depth, other=0.0)
        total += tl.sum(a * x[None, :], axis=1)
    y_at = y_ptr + y_first + row * incy
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
    block_rows, block_depth = (64, 16) if trans == "N" else (16, 64)
    gemv_kernel[(triton.cdiv(rows, block_rows), batchCount)](
        A, x, y, rows, depth, alpha, beta, a_row, a_col, strideA, stridex, stridey, x_first, y_first, incx, incy,
        READ_Y=beta != 0, BLOCK_ROWS=block_rows, BLOCK_DEPTH=block_depth,
    )
    return y
