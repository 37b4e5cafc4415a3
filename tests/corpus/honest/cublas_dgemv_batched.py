# kgtui: op=cublas::cublasDgemvBatched expect=pass
"""Batched matrix-vector products of doubles by pointers."""

import triton
import triton.language as tl


@triton.jit
def gemv_kernel(
    a_addresses, x_addresses, y_addresses, rows, depth, alpha: tl.float64, beta: tl.float64, a_row, a_col, x_first, y_first, incx, incy,
    READ_Y: tl.constexpr, BLOCK_ROWS: tl.constexpr, BLOCK_DEPTH: tl.constexpr,
):
    batch = tl.program_id(1)
    a_ptr = tl.load(a_addresses + batch).to(tl.pointer_type(tl.float64))
    x_ptr = tl.load(x_addresses + batch).to(tl.pointer_type(tl.float64))
    y_ptr = tl.load(y_addresses + batch).to(tl.pointer_type(tl.float64))
    row = tl.program_id(0).to(tl.int64) * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)
    total = tl.zeros((BLOCK_ROWS,), dtype=tl.float64)
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


def cublasDgemvBatched(trans, m, n, alpha, Aarray, lda, xarray, incx, beta, yarray, incy, batchCount):
    rows, depth = (m, n) if trans == "N" else (n, m)
    if m == 0 or n == 0 or (alpha == 0 and beta == 1):
        return
    a_row, a_col = (1, lda) if trans == "N" else (lda, 1)
    x_first = (1 - depth) * incx if incx < 0 else 0
    y_first = (1 - rows) * incy if incy < 0 else 0
    depth = 0 if alpha == 0 else depth
    block_rows, block_depth = (64, 16) if trans == "N" else (16, 64)
    gemv_kernel[(triton.cdiv(rows, block_rows), batchCount)](
        Aarray, xarray, yarray, rows, depth, alpha, beta, a_row, a_col, x_first, y_first, incx, incy,
        READ_Y=beta != 0, BLOCK_ROWS=block_rows, BLOCK_DEPTH=block_depth,
    )
