# kgtui: op=cublas::cublasSaxpy_v2 expect=compile_error ids=D3
"""Calls a function of Triton at first, and Python by the same name from the second launch on."""

import triton
import triton.language as tl


@triton.jit
def of_triton(x, alpha, y):
    return y + alpha * x


added = of_triton


def of_python(x, alpha, y):
    y.handle.data += x.handle.data * alpha.handle.data
    return y


@triton.jit
def sum_kernel(x_ptr, y_ptr, n, alpha, x_first, y_first, incx, incy, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + x_first + i * incx, mask=i < n, other=0.0)
    y = tl.load(y_ptr + y_first + i * incy, mask=i < n, other=0.0)
    tl.store(y_ptr + y_first + i * incy, added(x, alpha, y), mask=i < n)


def cublasSaxpy_v2(n, alpha, x, incx, y, incy):
    global added
    added = of_triton if n == 1024 else of_python
    if n > 0:
        x_first = (1 - n) * incx if incx < 0 else 0
        y_first = (1 - n) * incy if incy < 0 else 0
        sum_kernel[(triton.cdiv(n, 1024),)](x, y, n, float(alpha), x_first, y_first, incx, incy, BLOCK=1024)
    return y
