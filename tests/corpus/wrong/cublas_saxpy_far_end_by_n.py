# kgtui: op=cublas::cublasSaxpy_v2 expect=wrong_value|out_of_bounds diagnosis=not_reached
"""Begins a y of negative increment n - 1 elements into its buffer, however far its elements lie apart."""

import triton
import triton.language as tl


@triton.jit
def saxpy_kernel(x_ptr, y_ptr, n, alpha, x_first, y_first, incx, incy, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    x = tl.load(x_ptr + x_first + i * incx, mask=inside, other=0.0)
    y_at = y_ptr + y_first + i * incy
    y = tl.load(y_at, mask=inside, other=0.0)
    tl.store(y_at, alpha * x + y, mask=inside)


def cublasSaxpy_v2(n, alpha, x, incx, y, incy):
    if n <= 0 or alpha == 0:
        return y
    x_first = (1 - n) * incx if incx < 0 else 0
    y_first = n - 1 if incy < 0 else 0
    block = 4096
    saxpy_kernel[(triton.cdiv(n, block),)](
        x, y, n, float(alpha), x_first, y_first, incx, incy, BLOCK=block, num_warps=8,
    )
    return y
