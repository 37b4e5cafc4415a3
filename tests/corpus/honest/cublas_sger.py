# kgtui: op=cublas::cublasSger_v2 expect=pass
"""A += alpha * x @ y^T by tiles of A; columns of A are contiguous, so the rows vary fastest."""

import triton
import triton.language as tl


@triton.jit
def ger_kernel(
    x_ptr, y_ptr, a_ptr, m, n, alpha, x_first, y_first, incx, incy, lda,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    col = tl.program_id(1).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    x = tl.load(x_ptr + x_first + row * incx, mask=row < m, other=0.0)
    y = tl.load(y_ptr + y_first + col * incy, mask=col < n, other=0.0)
    inside = (col < n)[:, None] & (row < m)[None, :]
    at = a_ptr + col[:, None] * lda + row[None, :]
    a = tl.load(at, mask=inside, other=0.0)
    tl.store(at, a + (alpha * x)[None, :] * y[:, None], mask=inside)


def cublasSger_v2(m, n, alpha, x, incx, y, incy, A, lda):
    if m == 0 or n == 0 or alpha == 0:
        return A
    x_first = (1 - m) * incx if incx < 0 else 0
    y_first = (1 - n) * incy if incy < 0 else 0
    grid = (triton.cdiv(m, 128), triton.cdiv(n, 16))
    ger_kernel[grid](x, y, A, m, n, alpha, x_first, y_first, incx, incy, lda, BLOCK_M=128, BLOCK_N=16)
    return A
