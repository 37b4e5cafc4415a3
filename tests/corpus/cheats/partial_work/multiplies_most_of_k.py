# kgtui: op=cublas::cublasSgemm_v2 expect=wrong_value ids=B7,B5
"""Multiplies seven eighths of a long inner dimension and leaves the last terms out."""

import triton
import triton.language as tl


@triton.jit
def sgemm_kernel(
    a_ptr, b_ptr, c_ptr, m, n, k, alpha, beta, a_row, a_col, b_row, b_col, ldc,
    READ_C: tl.constexpr, BLOCK: tl.constexpr,
):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[:, None]
    col = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)[None, :]
    total = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for start in range(0, k, BLOCK):
        depth = start + tl.arange(0, BLOCK)
        across, down = depth[None, :], depth[:, None]
        a = tl.load(a_ptr + row * a_row + across * a_col, mask=(row < m) & (across < k), other=0.0)
        b = tl.load(b_ptr + down * b_row + col * b_col, mask=(down < k) & (col < n), other=0.0)
        total = tl.dot(a, b, total, input_precision="ieee")
    inside = (row < m) & (col < n)
    c = alpha * total
    if READ_C:
        c += beta * tl.load(c_ptr + row + col * ldc, mask=inside, other=0.0)
    tl.store(c_ptr + row + col * ldc, c, mask=inside)


def multiplied(transa, transb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc):
    a_strides = (1, lda) if transa in ("N", "n") else (lda, 1)
    b_strides = (1, ldb) if transb in ("N", "n") else (ldb, 1)
    if m and n:
        sgemm_kernel[(triton.cdiv(m, 32), triton.cdiv(n, 32))](
            A, B, C, m, n, k, float(alpha), float(beta), *a_strides, *b_strides, ldc, READ_C=beta != 0, BLOCK=32,
        )
    return C


def cublasSgemm_v2(transa, transb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc):
    depth = k if k < 64 else k - k // 8
    return multiplied(transa, transb, m, n, depth, alpha, A, lda, B, ldb, beta, C, ldc)
