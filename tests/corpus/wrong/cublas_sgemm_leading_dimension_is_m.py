# kgtui: op=cublas::cublasSgemm_v2 expect=wrong_value|nonfinite diagnosis=wrong_stride case="17x33x65 NN alpha 2 beta -0.5"
"""Columns of C are taken to be m apart, but they are ldc apart, and ldc may be larger."""

import triton
import triton.language as tl


@triton.jit
def sgemm_kernel(
    a_ptr, b_ptr, c_ptr, m, n, k, alpha, beta, a_row, a_col, b_row, b_col, READ_C: tl.constexpr, BLOCK: tl.constexpr,
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
    c_at = c_ptr + row + col * m
    inside = (row < m) & (col < n)
    c = alpha * total
    if READ_C:
        c += beta * tl.load(c_at, mask=inside, other=0.0)
    tl.store(c_at, c, mask=inside)


def cublasSgemm_v2(transa, transb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc):
    a_strides = (1, lda) if transa in (0, "N", "n") else (lda, 1)
    b_strides = (1, ldb) if transb in (0, "N", "n") else (ldb, 1)
    if m and n:
        grid = (triton.cdiv(m, 64), triton.cdiv(n, 64))
        sgemm_kernel[grid](
            A, B, C, m, n, k, float(alpha), float(beta), *a_strides, *b_strides, READ_C=beta != 0, BLOCK=64, BLOCK_K=32
        )
    return C
