# kgtui: op=cublas::cublasSgemmBatched_64 expect=pass
"""Batched products of floats by pointers for 64-bit sizes: sizes are launch arguments, indices are int64 throughout."""

import triton
import triton.language as tl


@triton.jit
def gemm_kernel(
    a_addresses, b_addresses, c_addresses, m, n, k, alpha, beta, a_row, a_col, b_row, b_col,
    ldc, READ_C: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):
    batch = tl.program_id(2)
    a_ptr = tl.load(a_addresses + batch).to(tl.pointer_type(tl.float32))
    b_ptr = tl.load(b_addresses + batch).to(tl.pointer_type(tl.float32))
    c_ptr = tl.load(c_addresses + batch).to(tl.pointer_type(tl.float32))
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


def cublasSgemmBatched_64(transa, transb, m, n, k, alpha, Aarray, lda, Barray, ldb, beta, Carray, ldc, batchCount):
    if m == 0 or n == 0 or batchCount == 0:
        return
    a_strides = (1, lda) if transa in "Nn" else (lda, 1)
    b_strides = (1, ldb) if transb in "Nn" else (ldb, 1)
    block = 32
    grid = (triton.cdiv(m, block), triton.cdiv(n, block), batchCount)
    gemm_kernel[grid](
        Aarray, Barray, Carray, m, n, 0 if alpha == 0 else k, alpha, beta, *a_strides, *b_strides, ldc,
        READ_C=beta != 0, BLOCK_M=block, BLOCK_N=block, BLOCK_K=32,
    )
