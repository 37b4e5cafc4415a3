# kgtui: op=cublas::cublasSaxpy_v2 expect=wrong_value diagnosis=wrong_stride case="497 alpha 0.5 inc 2 3"
"""incx and incy are ignored: the vectors are read as if their elements were adjacent."""

import triton
import triton.language as tl


@triton.jit
def saxpy_kernel(x_ptr, y_ptr, n, alpha, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(y_ptr + i, tl.load(y_ptr + i, mask=i < n, other=0.0) + alpha * x, mask=i < n)


def cublasSaxpy_v2(n, alpha, x, incx, y, incy):
    if n > 0:
        saxpy_kernel[(triton.cdiv(n, 2048),)](x, y, n, float(alpha), BLOCK=2048)
    return y
