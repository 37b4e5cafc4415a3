# kgtui: op=cublas::cublasSaxpy_v2 expect=pass
"""Saxpy on contiguous vectors: torch packs strided views, and copies the sum back into the caller's y."""

import triton
import triton.language as tl


@triton.jit
def saxpy_kernel(x_ptr, y_ptr, n, alpha, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    y = tl.load(y_ptr + i, mask=i < n, other=0.0)
    tl.store(y_ptr + i, alpha * x + y, mask=i < n)


def vector(buffer, n, increment):
    """The n elements as a view; BLAS walks backwards for a negative increment, which a flip of the view does."""
    if increment == 0:
        return buffer[:1].expand(n)
    view = buffer[: (n - 1) * abs(increment) + 1 : abs(increment)]
    return view if increment > 0 else view.flip(0)


def cublasSaxpy_v2(n, alpha, x, incx, y, incy):
    if n <= 0:
        return y
    inside = vector(y, n, abs(incy))
    packed_y = inside.contiguous()
    packed_x = vector(x, n, incx if incy > 0 else -incx).contiguous()
    saxpy_kernel[(triton.cdiv(n, 2048),)](packed_x, packed_y, n, float(alpha), BLOCK=2048, num_warps=4)
    if packed_y.data_ptr() != inside.data_ptr():
        inside.copy_(packed_y)
    return y
