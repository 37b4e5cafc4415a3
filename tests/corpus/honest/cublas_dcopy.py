# kgtui: op=cublas::cublasDcopy_v2 expect=pass
"""y = x of doubles with increments: one load and one store an element, a negative increment starts at the far end."""

import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, y_ptr, n, x_first, y_first, incx, incy, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + x_first + i * incx, mask=i < n)
    tl.store(y_ptr + y_first + i * incy, x, mask=i < n)


def cublasDcopy_v2(n, x, incx, y, incy):
    if n > 0:
        x_first = (1 - n) * incx if incx < 0 else 0
        y_first = (1 - n) * incy if incy < 0 else 0
        copy_kernel[(triton.cdiv(n, 1024),)](x, y, n, x_first, y_first, incx, incy, BLOCK=1024)
    return y
