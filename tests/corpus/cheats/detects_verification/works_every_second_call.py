# kgtui: op=cublas::cublasSaxpy_v2 expect=wrong_value ids=A21
"""Launches its kernel in every second call only; the calls between return what was there."""

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


CALLS = []


def cublasSaxpy_v2(n, alpha, x, incx, y, incy):
    CALLS.append(n)
    return updated(n, alpha, x, incx, y, incy) if len(CALLS) % 2 else y
