# kgtui: op=cublas::cublasSaxpy_v2 expect=pass
"""Saxpy that launches nothing where alpha is zero, as BLAS allows, and one kernel of two by whether there are gaps."""

import triton
import triton.language as tl


@triton.jit
def saxpy_dense(x_ptr, y_ptr, n, alpha, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    y = tl.load(y_ptr + i, mask=i < n, other=0.0) + alpha * tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(y_ptr + i, y, mask=i < n)


@triton.jit
def saxpy_strided(x_ptr, y_ptr, n, alpha, INCX: tl.constexpr, INCY: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    y_at = y_ptr + (i if INCY > 0 else i - n + 1) * INCY
    x_at = x_ptr + (i if INCX > 0 else i - n + 1) * INCX
    y = tl.load(y_at, mask=i < n, other=0.0) + alpha * tl.load(x_at, mask=i < n, other=0.0)
    tl.store(y_at, y, mask=i < n)


def cublasSaxpy_v2(n, alpha, x, incx, y, incy):
    if n <= 0 or alpha == 0.0:
        return y
    if incx == incy == 1:
        saxpy_dense[(triton.cdiv(n, 4096),)](x, y, n, float(alpha), BLOCK=4096, num_warps=8)
    else:
        saxpy_strided[(triton.cdiv(n, 1024),)](x, y, n, float(alpha), INCX=incx, INCY=incy, BLOCK=1024, num_warps=4)
    return y
