# kgtui: op=cublas::cublasSgemm_v2 expect=nonfinite diagnosis=old_content case="32x64x16 NN alpha 1 beta 0"
"""C is read even when beta is 0, and 0 times the nan of a fresh buffer is nan."""

import triton
import triton.language as tl


@triton.jit
def sgemm_kernel(
    a_ptr, b_ptr, c_ptr, m, n, k, alpha, beta, a_row, a_col, b_row, b_col, ldc, BLOCK: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    row = (tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))[:, None]
    col = (tl.program_id(1) * BLOCK + tl.arange(0, BLOCK))[None, :]
    total = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for start in range(0, k, BLOCK_K):
        depth = start + tl.arange(0, BLOCK_K)
        along, down = depth[None, :], depth[:, None]
        a = tl.load(a_ptr + row * a_row + along * a_col, mask=(row < m) & (along < k), other=0.0)
        b = tl.load(b_ptr + down * b_row + col * b_col, mask=(down < k) & (col < n), other=0.0)
        total = tl.dot(a, b, total, input_precision="ieee")
    c_at = c_ptr + row + col * ldc
    inside = (row < m) & (col < n)
    tl.store(c_at, alpha * total + beta * tl.load(c_at, mask=inside, other=0.0), mask=inside)


def cublasSgemm_v2(transa, transb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc):
    a_strides = (1, lda) if transa in (0, "N", "n") else (lda, 1)
    b_strides = (1, ldb) if transb in (0, "N", "n") else (ldb, 1)
    if m and n:
        grid = (triton.cdiv(m, 64), triton.cdiv(n, 64))
        sgemm_kernel[grid](
            A, B, C, m, n, k, float(alpha), float(beta), *a_strides, *b_strides, ldc, BLOCK=64, BLOCK_K=32
        )
    return C
