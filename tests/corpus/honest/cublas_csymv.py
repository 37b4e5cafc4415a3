# kgtui: op=cublas::cublasCsymv_v2 expect=pass
"""Complex y = alpha * A @ x + beta * y, of A one triangle: an element of the other is read where its mirror image is."""

import torch
import triton
import triton.language as tl


@triton.jit
def symv_kernel(
    a_ptr, x_ptr, y_ptr, n, depth, alpha_real, alpha_imaginary, beta_real, beta_imaginary, lda, x_first, y_first,
    incx, incy, LOWER: tl.constexpr, READ_Y: tl.constexpr, BLOCK_ROWS: tl.constexpr, BLOCK_DEPTH: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64) * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)
    real = tl.zeros((BLOCK_ROWS,), dtype=tl.float32)
    imaginary = tl.zeros((BLOCK_ROWS,), dtype=tl.float32)
    for start in range(0, depth, BLOCK_DEPTH):
        col = start + tl.arange(0, BLOCK_DEPTH).to(tl.int64)
        larger = tl.maximum(row[:, None], col[None, :])
        smaller = tl.minimum(row[:, None], col[None, :])
        place = larger + smaller * lda if LOWER else smaller + larger * lda
        inside = (row < n)[:, None] & (col < depth)[None, :]
        a_real = tl.load(a_ptr + 2 * place, mask=inside, other=0.0)
        a_imaginary = tl.load(a_ptr + 2 * place + 1, mask=inside, other=0.0)
        x_at = x_ptr + 2 * (x_first + col * incx)
        x_real = tl.load(x_at, mask=col < depth, other=0.0)[None, :]
        x_imaginary = tl.load(x_at + 1, mask=col < depth, other=0.0)[None, :]
        real += tl.sum(a_real * x_real - a_imaginary * x_imaginary, axis=1)
        imaginary += tl.sum(a_real * x_imaginary + a_imaginary * x_real, axis=1)
    y_at = y_ptr + 2 * (y_first + row * incy)
    y_real = alpha_real * real - alpha_imaginary * imaginary
    y_imaginary = alpha_real * imaginary + alpha_imaginary * real
    if READ_Y:
        old_real = tl.load(y_at, mask=row < n, other=0.0)
        old_imaginary = tl.load(y_at + 1, mask=row < n, other=0.0)
        y_real += beta_real * old_real - beta_imaginary * old_imaginary
        y_imaginary += beta_real * old_imaginary + beta_imaginary * old_real
    tl.store(y_at, y_real, mask=row < n)
    tl.store(y_at + 1, y_imaginary, mask=row < n)


def cublasCsymv_v2(uplo, n, alpha, A, lda, x, incx, beta, y, incy):
    if n == 0:
        return y
    alpha, beta = complex(alpha), complex(beta)
    x_first = (1 - n) * incx if incx < 0 else 0
    y_first = (1 - n) * incy if incy < 0 else 0
    symv_kernel[(triton.cdiv(n, 32),)](
        torch.view_as_real(A), torch.view_as_real(x), torch.view_as_real(y), n, 0 if alpha == 0 else n,
        alpha.real, alpha.imag, beta.real, beta.imag, lda, x_first, y_first, incx, incy,
        LOWER=uplo == "L", READ_Y=beta != 0, BLOCK_ROWS=32, BLOCK_DEPTH=32,
    )
    return y
