# kgtui: op=cublas::cublasCsyrkEx expect=pass
"""One triangle of the complex C = alpha * op(A) @ op(A)^T + beta * C, as real products of real and imaginary parts."""

import torch
import triton
import triton.language as tl


@triton.jit
def syrk_kernel(
    a_ptr, c_ptr, n, k, alpha_real, alpha_imaginary, beta_real, beta_imaginary, a_row, a_col, ldc,
    LOWER: tl.constexpr, READ_C: tl.constexpr, BLOCK: tl.constexpr, BLOCK_K: tl.constexpr,
):
    first_row = tl.program_id(0).to(tl.int64) * BLOCK
    first_col = tl.program_id(1).to(tl.int64) * BLOCK
    if (LOWER and first_row + BLOCK > first_col) or (not LOWER and first_col + BLOCK > first_row):
        row = first_row + tl.arange(0, BLOCK)[None, :]
        col = first_col + tl.arange(0, BLOCK)[:, None]
        plus = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
        minus = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
        crossed = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
        for start in range(0, k, BLOCK_K):
            depth = start + tl.arange(0, BLOCK_K).to(tl.int64)
            along, down = depth[None, :], depth[:, None]
            left_at = a_ptr + 2 * (col * a_row + along * a_col)
            right_at = a_ptr + 2 * (row * a_row + down * a_col)
            left_inside, right_inside = (col < n) & (along < k), (row < n) & (down < k)
            left_real = tl.load(left_at, mask=left_inside, other=0.0)
            left_imaginary = tl.load(left_at + 1, mask=left_inside, other=0.0)
            right_real = tl.load(right_at, mask=right_inside, other=0.0)
            right_imaginary = tl.load(right_at + 1, mask=right_inside, other=0.0)
            plus = tl.dot(left_real, right_real, plus, input_precision="ieee")
            minus = tl.dot(left_imaginary, right_imaginary, minus, input_precision="ieee")
            crossed = tl.dot(left_real, right_imaginary, crossed, input_precision="ieee")
            crossed = tl.dot(left_imaginary, right_real, crossed, input_precision="ieee")
        inside = (row < n) & (col < n)
        inside &= (row >= col) if LOWER else (row <= col)
        at = c_ptr + 2 * (col * ldc + row)
        real = alpha_real * (plus - minus) - alpha_imaginary * crossed
        imaginary = alpha_real * crossed + alpha_imaginary * (plus - minus)
        if READ_C:
            old_real = tl.load(at, mask=inside, other=0.0)
            old_imaginary = tl.load(at + 1, mask=inside, other=0.0)
            real += beta_real * old_real - beta_imaginary * old_imaginary
            imaginary += beta_real * old_imaginary + beta_imaginary * old_real
        tl.store(at, real, mask=inside)
        tl.store(at + 1, imaginary, mask=inside)


def cublasCsyrkEx(uplo, trans, n, k, alpha, A, Atype, lda, beta, C, Ctype, ldc):
    if (Atype, Ctype) != (4, 4):
        raise NotImplementedError(f"cublasCsyrkEx: only CUDA_C_32F (4) is supported, got {Atype} and {Ctype}")
    alpha, beta = complex(alpha), complex(beta)
    if n == 0 or (beta == 1 and (alpha == 0 or k == 0)):
        return C
    a_row, a_col = (1, lda) if trans == "N" else (lda, 1)
    tiles = triton.cdiv(n, 32)
    syrk_kernel[(tiles, tiles)](
        torch.view_as_real(A), torch.view_as_real(C), n, 0 if alpha == 0 else k, alpha.real, alpha.imag,
        beta.real, beta.imag, a_row, a_col, ldc, LOWER=uplo == "L", READ_C=beta != 0, BLOCK=32, BLOCK_K=16,
    )
    return C
