# kgtui: op=cublas::cublasZgemvBatched expect=pass
"""Batched matrix-vector products of complex doubles by pointers."""

import triton
import triton.language as tl


@triton.jit
def gemv_kernel(
    a_addresses, x_addresses, y_addresses, rows, depth, alpha_real: tl.float64, alpha_imaginary: tl.float64,
    beta_real: tl.float64, beta_imaginary: tl.float64, sign: tl.float64, a_row, a_col,
    x_first, y_first, incx, incy, READ_Y: tl.constexpr, BLOCK_ROWS: tl.constexpr, BLOCK_DEPTH: tl.constexpr,
):
    batch = tl.program_id(1)
    a_ptr = tl.load(a_addresses + batch).to(tl.pointer_type(tl.float64))
    x_ptr = tl.load(x_addresses + batch).to(tl.pointer_type(tl.float64))
    y_ptr = tl.load(y_addresses + batch).to(tl.pointer_type(tl.float64))
    row = tl.program_id(0).to(tl.int64) * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)
    real = tl.zeros((BLOCK_ROWS,), dtype=tl.float64)
    imaginary = tl.zeros((BLOCK_ROWS,), dtype=tl.float64)
    for start in range(0, depth, BLOCK_DEPTH):
        col = start + tl.arange(0, BLOCK_DEPTH).to(tl.int64)
        inside = (row < rows)[:, None] & (col < depth)[None, :]
        a_at = a_ptr + 2 * (row[:, None] * a_row + col[None, :] * a_col)
        a_real = tl.load(a_at, mask=inside, other=0.0)
        a_imaginary = sign * tl.load(a_at + 1, mask=inside, other=0.0)
        x_at = x_ptr + 2 * (x_first + col * incx)
        x_real = tl.load(x_at, mask=col < depth, other=0.0)[None, :]
        x_imaginary = tl.load(x_at + 1, mask=col < depth, other=0.0)[None, :]
        real += tl.sum(a_real * x_real - a_imaginary * x_imaginary, axis=1)
        imaginary += tl.sum(a_real * x_imaginary + a_imaginary * x_real, axis=1)
    y_at = y_ptr + 2 * (y_first + row * incy)
    y_real = alpha_real * real - alpha_imaginary * imaginary
    y_imaginary = alpha_real * imaginary + alpha_imaginary * real
    if READ_Y:
        old_real = tl.load(y_at, mask=row < rows, other=0.0)
        old_imaginary = tl.load(y_at + 1, mask=row < rows, other=0.0)
        y_real += beta_real * old_real - beta_imaginary * old_imaginary
        y_imaginary += beta_real * old_imaginary + beta_imaginary * old_real
    tl.store(y_at, y_real, mask=row < rows)
    tl.store(y_at + 1, y_imaginary, mask=row < rows)


def cublasZgemvBatched(trans, m, n, alpha, Aarray, lda, xarray, incx, beta, yarray, incy, batchCount):
    rows, depth = (m, n) if trans == "N" else (n, m)
    if m == 0 or n == 0 or batchCount == 0:
        return
    a_row, a_col = (1, lda) if trans == "N" else (lda, 1)
    x_first = (1 - depth) * incx if incx < 0 else 0
    y_first = (1 - rows) * incy if incy < 0 else 0
    depth = 0 if alpha == 0 else depth
    alpha, beta = complex(alpha), complex(beta)
    block_rows, block_depth = (64, 16) if trans == "N" else (16, 64)
    gemv_kernel[(triton.cdiv(rows, block_rows), batchCount)](
        Aarray, xarray, yarray, rows, depth, alpha.real, alpha.imag,
        beta.real, beta.imag, -1.0 if trans == "C" else 1.0, a_row, a_col, x_first, y_first, incx, incy,
        READ_Y=beta != 0, BLOCK_ROWS=block_rows, BLOCK_DEPTH=block_depth,
    )
