# kgtui: op=cublas::cublasSaxpy_v2 expect=wrong_value diagnosis=ignored_argument case="1024 alpha -0.999 inc 1 1"
"""The sign of alpha is turned round: y - alpha * x."""

import triton
import triton.language as tl


@triton.jit
def saxpy_kernel(x_ptr, y_ptr, n, alpha, x_first, y_first, incx, incy, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    y_at = y_ptr + y_first + i * incy
    x = tl.load(x_ptr + x_first + i * incx, mask=i < n, other=0.0)
    tl.store(y_at, tl.load(y_at, mask=i < n, other=0.0) - alpha * x, mask=i < n)


def cublasSaxpy_v2(n, alpha, x, incx, y, incy):
    if n > 0:
        x_first, y_first = max((1 - n) * incx, 0), max((1 - n) * incy, 0)
        saxpy_kernel[(triton.cdiv(n, 2048),)](x, y, n, float(alpha), x_first, y_first, incx, incy, BLOCK=2048)
    return y
