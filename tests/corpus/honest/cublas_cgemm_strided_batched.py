# kgtui: op=cublas::cublasCgemmStridedBatched expect=pass
"""Batched complex products on pairs of floats: conjugation is a sign of the imaginary parts as they are loaded."""

import torch
import triton
import triton.language as tl


@triton.jit
def gemm_kernel(
    a_ptr, b_ptr, c_ptr, m, n, k, alpha_real, alpha_imaginary, beta_real, beta_imaginary, a_sign, b_sign,
    a_row, a_col, a_batch, b_row, b_col, b_batch, ldc, c_batch,
    READ_C: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):
    batch = tl.program_id(2).to(tl.int64)
    a_ptr += 2 * batch * a_batch
    b_ptr += 2 * batch * b_batch
    c_ptr += 2 * batch * c_batch
    # Columns of C are contiguous, so the transposed tile is computed: C' = op(B)' @ op(A)'.
    row = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)[None, :]
    col = tl.program_id(1).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)[:, None]
    both_real = tl.zeros((BLOCK_N, BLOCK_M), dtype=tl.float32)
    both_imaginary = tl.zeros((BLOCK_N, BLOCK_M), dtype=tl.float32)
    crossed = tl.zeros((BLOCK_N, BLOCK_M), dtype=tl.float32)
    for start in range(0, k, BLOCK_K):
        depth = start + tl.arange(0, BLOCK_K).to(tl.int64)
        along, down = depth[None, :], depth[:, None]
        b_at = b_ptr + 2 * (along * b_row + col * b_col)
        a_at = a_ptr + 2 * (row * a_row + down * a_col)
        b_inside, a_inside = (along < k) & (col < n), (row < m) & (down < k)
        b_real = tl.load(b_at, mask=b_inside, other=0.0)
        b_imaginary = b_sign * tl.load(b_at + 1, mask=b_inside, other=0.0)
        a_real = tl.load(a_at, mask=a_inside, other=0.0)
        a_imaginary = a_sign * tl.load(a_at + 1, mask=a_inside, other=0.0)
        both_real = tl.dot(b_real, a_real, both_real, input_precision="ieee")
        both_imaginary = tl.dot(b_imaginary, a_imaginary, both_imaginary, input_precision="ieee")
        crossed = tl.dot(b_real, a_imaginary, crossed, input_precision="ieee")
        crossed = tl.dot(b_imaginary, a_real, crossed, input_precision="ieee")
    real = both_real - both_imaginary
    c_real = alpha_real * real - alpha_imaginary * crossed
    c_imaginary = alpha_real * crossed + alpha_imaginary * real
    c_at = c_ptr + 2 * (row + col * ldc)
    inside = (row < m) & (col < n)
    if READ_C:
        old_real = tl.load(c_at, mask=inside, other=0.0)
        old_imaginary = tl.load(c_at + 1, mask=inside, other=0.0)
        c_real += beta_real * old_real - beta_imaginary * old_imaginary
        c_imaginary += beta_real * old_imaginary + beta_imaginary * old_real
    tl.store(c_at, c_real, mask=inside)
    tl.store(c_at + 1, c_imaginary, mask=inside)


def cublasCgemmStridedBatched(transa, transb, m, n, k, alpha, A, lda, strideA, B, ldb, strideB, beta, C, ldc, strideC, batchCount):
    if m == 0 or n == 0 or batchCount == 0:
        return C
    alpha, beta = complex(alpha), complex(beta)
    a_strides = (1, lda) if transa in "Nn" else (lda, 1)
    b_strides = (1, ldb) if transb in "Nn" else (ldb, 1)
    block = 32
    grid = (triton.cdiv(m, block), triton.cdiv(n, block), batchCount)
    gemm_kernel[grid](
        torch.view_as_real(A), torch.view_as_real(B), torch.view_as_real(C), m, n, 0 if alpha == 0 else k,
        alpha.real, alpha.imag, beta.real, beta.imag, -1.0 if transa in "Cc" else 1.0, -1.0 if transb in "Cc" else 1.0,
        *a_strides, strideA, *b_strides, strideB, ldc, strideC,
        READ_C=beta != 0, BLOCK_M=block, BLOCK_N=block, BLOCK_K=16,
    )
    return C
