# kgtui: op=cublas::cublasZgemmBatched expect=pass
"""Batched products of complex doubles by pointers: a program loads three addresses and treats them as pairs."""

import triton
import triton.language as tl


@triton.jit
def gemm_kernel(
    a_addresses, b_addresses, c_addresses, m, n, k, alpha_real: tl.float64, alpha_imaginary: tl.float64,
    beta_real: tl.float64, beta_imaginary: tl.float64, a_sign, b_sign,
    a_row, a_col, b_row, b_col, ldc,
    READ_C: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):
    batch = tl.program_id(2)
    a_ptr = tl.load(a_addresses + batch).to(tl.pointer_type(tl.float64))
    b_ptr = tl.load(b_addresses + batch).to(tl.pointer_type(tl.float64))
    c_ptr = tl.load(c_addresses + batch).to(tl.pointer_type(tl.float64))
    # Columns of C are contiguous, so the transposed tile is computed: C' = op(B)' @ op(A)'.
    row = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)[None, :]
    col = tl.program_id(1).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)[:, None]
    both_real = tl.zeros((BLOCK_N, BLOCK_M), dtype=tl.float64)
    both_imaginary = tl.zeros((BLOCK_N, BLOCK_M), dtype=tl.float64)
    crossed = tl.zeros((BLOCK_N, BLOCK_M), dtype=tl.float64)
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
        both_real = tl.dot(b_real, a_real, both_real, out_dtype=tl.float64)
        both_imaginary = tl.dot(b_imaginary, a_imaginary, both_imaginary, out_dtype=tl.float64)
        crossed = tl.dot(b_real, a_imaginary, crossed, out_dtype=tl.float64)
        crossed = tl.dot(b_imaginary, a_real, crossed, out_dtype=tl.float64)
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


def cublasZgemmBatched(transa, transb, m, n, k, alpha, Aarray, lda, Barray, ldb, beta, Carray, ldc, batchCount):
    if m == 0 or n == 0 or batchCount == 0:
        return
    alpha, beta = complex(alpha), complex(beta)
    a_strides = (1, lda) if transa in "Nn" else (lda, 1)
    b_strides = (1, ldb) if transb in "Nn" else (ldb, 1)
    block = 32
    grid = (triton.cdiv(m, block), triton.cdiv(n, block), batchCount)
    gemm_kernel[grid](
        Aarray, Barray, Carray, m, n, 0 if alpha == 0 else k,
        alpha.real, alpha.imag, beta.real, beta.imag, -1.0 if transa in "Cc" else 1.0, -1.0 if transb in "Cc" else 1.0,
        *a_strides, *b_strides, ldc, READ_C=beta != 0, BLOCK_M=block, BLOCK_N=block, BLOCK_K=16,
    )
