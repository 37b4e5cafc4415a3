# kgtui: op=cublas::cublasSdgmm expect=pass
"""C = diag(x) @ A or A @ diag(x), by tiles; columns are contiguous, so the rows vary fastest."""

import triton
import triton.language as tl


@triton.jit
def dgmm_kernel(
    a_ptr, x_ptr, c_ptr, m, n, lda, x_first, incx, ldc, LEFT: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)[None, :]
    col = tl.program_id(1).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)[:, None]
    inside = (row < m) & (col < n)
    x = tl.load(x_ptr + x_first + (row if LEFT else col) * incx, mask=row < m if LEFT else col < n, other=0.0)
    a = tl.load(a_ptr + row + col * lda, mask=inside, other=0.0)
    tl.store(c_ptr + row + col * ldc, a * x, mask=inside)


def cublasSdgmm(mode, m, n, A, lda, x, incx, C, ldc):
    if m == 0 or n == 0:
        return C
    factors = m if mode == "L" else n
    x_first = (1 - factors) * incx if incx < 0 else 0
    grid = (triton.cdiv(m, 128), triton.cdiv(n, 16))
    dgmm_kernel[grid](A, x, C, m, n, lda, x_first, incx, ldc, LEFT=mode == "L", BLOCK_M=128, BLOCK_N=16)
    return C
