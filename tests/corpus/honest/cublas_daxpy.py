# kgtui: op=cublas::cublasDaxpy_v2 expect=pass
"""y += alpha * x in float64: alpha is declared as such, because Triton makes a Python float a float32."""

import triton
import triton.language as tl


@triton.jit
def daxpy_kernel(x_ptr, y_ptr, n, alpha: tl.float64, x_first, y_first, incx, incy, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    x = tl.load(x_ptr + x_first + i * incx, mask=inside)
    y_at = y_ptr + y_first + i * incy
    tl.store(y_at, alpha * x + tl.load(y_at, mask=inside), mask=inside)


def cublasDaxpy_v2(n, alpha, x, incx, y, incy):
    if n <= 0 or alpha == 0:
        return y
    x_first = (1 - n) * incx if incx < 0 else 0
    y_first = (1 - n) * incy if incy < 0 else 0
    block = 1024
    daxpy_kernel[(triton.cdiv(n, block),)](x, y, n, alpha, x_first, y_first, incx, incy, BLOCK=block)
    return y
