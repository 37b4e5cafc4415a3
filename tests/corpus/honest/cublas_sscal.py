# kgtui: op=cublas::cublasSscal_v2 expect=pass
"""x *= alpha on every incx-th element; an increment that is not positive changes nothing."""

import triton
import triton.language as tl


@triton.jit
def scal_kernel(x_ptr, n, alpha, incx, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    at = x_ptr + i * incx
    tl.store(at, alpha * tl.load(at, mask=inside), mask=inside)


def cublasSscal_v2(n, alpha, x, incx):
    if n <= 0 or incx <= 0:
        return x
    block = 2048
    scal_kernel[(triton.cdiv(n, block),)](x, n, alpha, incx, BLOCK=block)
    return x
