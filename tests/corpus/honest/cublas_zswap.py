# kgtui: op=cublas::cublasZswap_v2 expect=pass
"""x and y exchanged: both pairs of doubles are loaded before either is stored."""

import torch
import triton
import triton.language as tl


@triton.jit
def swap_kernel(x_ptr, y_ptr, n, x_first, y_first, incx, incy, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = (i < n)[:, None]
    part = tl.arange(0, 2)[None, :]
    x_at = x_ptr + 2 * (x_first + i * incx)[:, None] + part
    y_at = y_ptr + 2 * (y_first + i * incy)[:, None] + part
    x = tl.load(x_at, mask=inside)
    y = tl.load(y_at, mask=inside)
    tl.store(x_at, y, mask=inside)
    tl.store(y_at, x, mask=inside)


def cublasZswap_v2(n, x, incx, y, incy):
    if n > 0:
        x_first = (1 - n) * incx if incx < 0 else 0
        y_first = (1 - n) * incy if incy < 0 else 0
        block = 512
        swap_kernel[(triton.cdiv(n, block),)](
            torch.view_as_real(x), torch.view_as_real(y), n, x_first, y_first, incx, incy, BLOCK=block,
        )
    return x, y
