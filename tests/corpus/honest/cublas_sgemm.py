# kgtui: op=cublas::cublasSgemm_v2 expect=pass
"""Column-major C = alpha * op(A) @ op(B) + beta * C by tiles; with beta == 0 the old C is never read."""

import triton
import triton.language as tl


@triton.jit
def sgemm_kernel(
    a_ptr, b_ptr, c_ptr, m, n, k, alpha, beta, a_row, a_col, b_row, b_col, ldc,
    READ_C: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):
    # Columns of C are contiguous, so the transposed tile is computed: C' = op(B)' @ op(A)'.
    row = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)[None, :]
    col = tl.program_id(1).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)[:, None]
    total = tl.zeros((BLOCK_N, BLOCK_M), dtype=tl.float32)
    for start in range(0, k, BLOCK_K):
        depth = start + tl.arange(0, BLOCK_K).to(tl.int64)
        along, down = depth[None, :], depth[:, None]
        b = tl.load(b_ptr + along * b_row + col * b_col, mask=(along < k) & (col < n), other=0.0)
        a = tl.load(a_ptr + row * a_row + down * a_col, mask=(row < m) & (down < k), other=0.0)
        total = tl.dot(b, a, total, input_precision="ieee")
    c_at = c_ptr + row + col * ldc
    inside = (row < m) & (col < n)
    c = alpha * total
    if READ_C:
        c += beta * tl.load(c_at, mask=inside, other=0.0)
    tl.store(c_at, c, mask=inside)


def is_transposed(operation):
    """cuBLAS says 0 for N, 1 for T and 2 for C; for real numbers C is T."""
    return operation not in (0, "N", "n", False)


def cublasSgemm_v2(transa, transb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc):
    if m == 0 or n == 0 or ((alpha == 0 or k == 0) and beta == 1):
        return C
    a_strides = (lda, 1) if is_transposed(transa) else (1, lda)
    b_strides = (ldb, 1) if is_transposed(transb) else (1, ldb)
    depth = 0 if alpha == 0 else k
    block = 64 if m * n > 32 * 32 else 32
    grid = (triton.cdiv(m, block), triton.cdiv(n, block))
    sgemm_kernel[grid](
        A, B, C, m, n, depth, float(alpha), float(beta), *a_strides, *b_strides, ldc,
        READ_C=beta != 0, BLOCK_M=block, BLOCK_N=block, BLOCK_K=32, num_warps=4, num_stages=3,
    )
    return C
