# kgtui: op=cublas::cublasHgemmStridedBatched expect=pass
"""Batched products of halves: sums in float32, alpha and beta applied in float16."""

import triton
import triton.language as tl


@triton.jit
def gemm_kernel(
    a_ptr, b_ptr, c_ptr, m, n, k, alpha, beta, a_row, a_col, a_batch, b_row, b_col, b_batch, ldc, c_batch,
    READ_C: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):
    batch = tl.program_id(2).to(tl.int64)
    # Columns of C are contiguous, so the transposed tile is computed: C' = op(B)' @ op(A)'.
    row = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)[None, :]
    col = tl.program_id(1).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)[:, None]
    total = tl.zeros((BLOCK_N, BLOCK_M), dtype=tl.float32)
    for start in range(0, k, BLOCK_K):
        depth = start + tl.arange(0, BLOCK_K).to(tl.int64)
        along, down = depth[None, :], depth[:, None]
        b_at = b_ptr + batch * b_batch + along * b_row + col * b_col
        a_at = a_ptr + batch * a_batch + row * a_row + down * a_col
        b = tl.load(b_at, mask=(along < k) & (col < n), other=0.0)
        a = tl.load(a_at, mask=(row < m) & (down < k), other=0.0)
        total = tl.dot(b, a, total)
    c_at = c_ptr + batch * c_batch + row + col * ldc
    inside = (row < m) & (col < n)
    c = total.to(tl.float16) * alpha.to(tl.float16)
    if READ_C:
        c += tl.load(c_at, mask=inside, other=0.0) * beta.to(tl.float16)
    tl.store(c_at, c, mask=inside)


def cublasHgemmStridedBatched(
    transa, transb, m, n, k, alpha, A, lda, strideA, B, ldb, strideB, beta, C, ldc, strideC, batchCount
):
    if m == 0 or n == 0 or batchCount == 0:
        return C
    a_strides = (1, lda) if transa in "Nn" else (lda, 1)
    b_strides = (1, ldb) if transb in "Nn" else (ldb, 1)
    block = 32
    grid = (triton.cdiv(m, block), triton.cdiv(n, block), batchCount)
    gemm_kernel[grid](
        A, B, C, m, n, 0 if alpha == 0 else k, alpha, beta, *a_strides, strideA, *b_strides, strideB, ldc, strideC,
        READ_C=beta != 0, BLOCK_M=block, BLOCK_N=block, BLOCK_K=32,
    )
    return C
