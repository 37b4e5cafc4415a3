# kgtui: op=cublas::cublasCgeru_v2 expect=pass
"""Complex A += alpha * x @ y^T on pairs of floats, y as it is, by tiles of A."""

import torch
import triton
import triton.language as tl


@triton.jit
def ger_kernel(
    x_ptr, y_ptr, a_ptr, m, n, alpha_real, alpha_imaginary, x_first, y_first, incx, incy, lda,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    col = tl.program_id(1).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    x_at = x_ptr + 2 * (x_first + row * incx)
    y_at = y_ptr + 2 * (y_first + col * incy)
    x_real = tl.load(x_at, mask=row < m, other=0.0)
    x_imaginary = tl.load(x_at + 1, mask=row < m, other=0.0)
    y_real = tl.load(y_at, mask=col < n, other=0.0)[:, None]
    y_imaginary = tl.load(y_at + 1, mask=col < n, other=0.0)[:, None]
    scaled_real = (alpha_real * x_real - alpha_imaginary * x_imaginary)[None, :]
    scaled_imaginary = (alpha_real * x_imaginary + alpha_imaginary * x_real)[None, :]
    inside = (col < n)[:, None] & (row < m)[None, :]
    at = a_ptr + 2 * (col[:, None] * lda + row[None, :])
    real = tl.load(at, mask=inside, other=0.0) + scaled_real * y_real - scaled_imaginary * y_imaginary
    imaginary = tl.load(at + 1, mask=inside, other=0.0) + scaled_real * y_imaginary + scaled_imaginary * y_real
    tl.store(at, real, mask=inside)
    tl.store(at + 1, imaginary, mask=inside)


def cublasCgeru_v2(m, n, alpha, x, incx, y, incy, A, lda):
    if m == 0 or n == 0 or alpha == 0:
        return A
    x_first = (1 - m) * incx if incx < 0 else 0
    y_first = (1 - n) * incy if incy < 0 else 0
    alpha = complex(alpha)
    grid = (triton.cdiv(m, 64), triton.cdiv(n, 16))
    ger_kernel[grid](
        torch.view_as_real(x), torch.view_as_real(y), torch.view_as_real(A), m, n, alpha.real, alpha.imag,
        x_first, y_first, incx, incy, lda, BLOCK_M=64, BLOCK_N=16,
    )
    return A
