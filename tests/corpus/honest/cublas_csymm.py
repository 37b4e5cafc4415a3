# kgtui: op=cublas::cublasCsymm_v2 expect=pass
"""Complex product with a symmetric matrix; an element of the triangle that is not read comes from its mirror image."""

import torch
import triton
import triton.language as tl


@triton.jit
def load_symmetric(a_ptr, i, j, order, lda, LOWER: tl.constexpr):
    """Both parts of A[i, j], from whichever triangle is stored."""
    larger, smaller = tl.maximum(i, j), tl.minimum(i, j)
    at = a_ptr + 2 * (larger + smaller * lda if LOWER else smaller + larger * lda)
    inside = (i < order) & (j < order)
    return tl.load(at, mask=inside, other=0.0), tl.load(at + 1, mask=inside, other=0.0)


@triton.jit
def symm_kernel(
    a_ptr, b_ptr, c_ptr, m, n, depth, alpha_real, alpha_imaginary, beta_real, beta_imaginary, lda, ldb, ldc,
    LEFT: tl.constexpr, LOWER: tl.constexpr, READ_C: tl.constexpr, BLOCK: tl.constexpr, BLOCK_K: tl.constexpr,
):
    # Columns of C are contiguous, so the transposed tile is computed.
    row = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)[None, :]
    col = tl.program_id(1).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)[:, None]
    plus = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    minus = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    crossed = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for start in range(0, depth, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K).to(tl.int64)
        along, down = k[None, :], k[:, None]
        if LEFT:
            right_real, right_imaginary = load_symmetric(a_ptr, row, down, depth, lda, LOWER)
            b_at = b_ptr + 2 * (along + col * ldb)
            left_inside = (along < depth) & (col < n)
        else:
            left_real, left_imaginary = load_symmetric(a_ptr, along, col, depth, lda, LOWER)
            b_at = b_ptr + 2 * (row + down * ldb)
            left_inside = (row < m) & (down < depth)
        b_real = tl.load(b_at, mask=left_inside, other=0.0)
        b_imaginary = tl.load(b_at + 1, mask=left_inside, other=0.0)
        if LEFT:
            left_real, left_imaginary = b_real, b_imaginary
        else:
            right_real, right_imaginary = b_real, b_imaginary
        plus = tl.dot(left_real, right_real, plus, input_precision="ieee")
        minus = tl.dot(left_imaginary, right_imaginary, minus, input_precision="ieee")
        crossed = tl.dot(left_real, right_imaginary, crossed, input_precision="ieee")
        crossed = tl.dot(left_imaginary, right_real, crossed, input_precision="ieee")
    inside = (row < m) & (col < n)
    at = c_ptr + 2 * (row + col * ldc)
    real = alpha_real * (plus - minus) - alpha_imaginary * crossed
    imaginary = alpha_real * crossed + alpha_imaginary * (plus - minus)
    if READ_C:
        old_real = tl.load(at, mask=inside, other=0.0)
        old_imaginary = tl.load(at + 1, mask=inside, other=0.0)
        real += beta_real * old_real - beta_imaginary * old_imaginary
        imaginary += beta_real * old_imaginary + beta_imaginary * old_real
    tl.store(at, real, mask=inside)
    tl.store(at + 1, imaginary, mask=inside)


def cublasCsymm_v2(side, uplo, m, n, alpha, A, lda, B, ldb, beta, C, ldc):
    if m == 0 or n == 0:
        return C
    alpha, beta = complex(alpha), complex(beta)
    depth = 0 if alpha == 0 else m if side == "L" else n
    symm_kernel[(triton.cdiv(m, 32), triton.cdiv(n, 32))](
        torch.view_as_real(A), torch.view_as_real(B), torch.view_as_real(C), m, n, depth, alpha.real, alpha.imag,
        beta.real, beta.imag, lda, ldb, ldc, LEFT=side == "L", LOWER=uplo == "L", READ_C=beta != 0,
        BLOCK=32, BLOCK_K=16,
    )
    return C
