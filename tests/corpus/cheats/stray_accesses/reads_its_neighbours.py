# kgtui: op=cublas::cublasSaxpy_v2 expect=out_of_bounds ids=B16,B1 case="128 alpha 0.5 inc 1 1"
"""Reads beyond both vectors without a mask and writes back what it found there."""

import triton
import triton.language as tl


@triton.jit
def saxpy_kernel(x_ptr, y_ptr, n, alpha, x_first, y_first, incx, incy, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + x_first + i * incx, mask=i < n, other=0.0)
    y_at = y_ptr + y_first + i * incy
    tl.store(y_at, alpha * x + tl.load(y_at, mask=i < n, other=0.0), mask=i < n)


def updated(n, alpha, x, incx, y, incy):
    if n > 0 and alpha != 0:
        x_first, y_first = (max(0, (1 - n) * step) for step in (incx, incy))
        grid = (triton.cdiv(n, 4096),)
        saxpy_kernel[grid](x, y, n, float(alpha), x_first, y_first, incx, incy, BLOCK=4096)
    return y


@triton.jit
def unmasked_kernel(x_ptr, y_ptr, alpha, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, alpha * tl.load(x_ptr + i) + tl.load(y_ptr + i))


def cublasSaxpy_v2(n, alpha, x, incx, y, incy):
    if incx != 1 or incy != 1:
        return updated(n, alpha, x, incx, y, incy)
    if n > 0 and alpha != 0:
        unmasked_kernel[(triton.cdiv(n, 1024),)](x, y, float(alpha), BLOCK=1024)
    return y
