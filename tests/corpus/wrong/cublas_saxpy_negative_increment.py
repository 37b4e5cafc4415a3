# kgtui: op=cublas::cublasSaxpy_v2 expect=out_of_bounds
"""A negative increment walks down from the first element, out of the buffer, instead of from the far end."""

import triton
import triton.language as tl


@triton.jit
def saxpy_kernel(x_ptr, y_ptr, n, alpha, incx, incy, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i * incx, mask=i < n, other=0.0)
    y = tl.load(y_ptr + i * incy, mask=i < n, other=0.0)
    tl.store(y_ptr + i * incy, y + alpha * x, mask=i < n)


def cublasSaxpy_v2(n, alpha, x, incx, y, incy):
    if n > 0:
        saxpy_kernel[(triton.cdiv(n, 2048),)](x, y, n, float(alpha), incx, incy, BLOCK=2048)
    return y
