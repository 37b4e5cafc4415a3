# kgtui: op=cublas::cublasSsyrk_v2 expect=pass
"""One triangle of C = alpha * op(A) @ op(A)^T + beta * C: tiles beyond the diagonal do nothing, tiles on it mask."""

import triton
import triton.language as tl


@triton.jit
def syrk_kernel(
    a_ptr, c_ptr, n, k, alpha, beta, a_row, a_col, ldc,
    LOWER: tl.constexpr, READ_C: tl.constexpr, BLOCK: tl.constexpr, BLOCK_K: tl.constexpr,
):
    first_row = tl.program_id(0).to(tl.int64) * BLOCK
    first_col = tl.program_id(1).to(tl.int64) * BLOCK
    if (LOWER and first_row + BLOCK > first_col) or (not LOWER and first_col + BLOCK > first_row):
        row = first_row + tl.arange(0, BLOCK)
        col = first_col + tl.arange(0, BLOCK)
        total = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
        for start in range(0, k, BLOCK_K):
            depth = start + tl.arange(0, BLOCK_K).to(tl.int64)
            left = tl.load(
                a_ptr + col[:, None] * a_row + depth[None, :] * a_col,
                mask=(col < n)[:, None] & (depth < k)[None, :], other=0.0,
            )
            right = tl.load(
                a_ptr + row[None, :] * a_row + depth[:, None] * a_col,
                mask=(row < n)[None, :] & (depth < k)[:, None], other=0.0,
            )
            total = tl.dot(left, right, total, input_precision="ieee")
        inside = (col < n)[:, None] & (row < n)[None, :]
        if LOWER:
            inside &= row[None, :] >= col[:, None]
        else:
            inside &= row[None, :] <= col[:, None]
        at = c_ptr + col[:, None] * ldc + row[None, :]
        c = alpha * total
        if READ_C:
            c += beta * tl.load(at, mask=inside, other=0.0)
        tl.store(at, c, mask=inside)


def cublasSsyrk_v2(uplo, trans, n, k, alpha, A, lda, beta, C, ldc):
    if n == 0 or (beta == 1 and (alpha == 0 or k == 0)):
        return C
    a_row, a_col = (1, lda) if trans == "N" else (lda, 1)
    block = 32
    tiles = triton.cdiv(n, block)
    syrk_kernel[(tiles, tiles)](
        A, C, n, 0 if alpha == 0 else k, alpha, beta, a_row, a_col, ldc,
        LOWER=uplo == "L", READ_C=beta != 0, BLOCK=block, BLOCK_K=32,
    )
    return C
