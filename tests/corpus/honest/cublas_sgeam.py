# kgtui: op=cublas::cublasSgeam expect=pass
"""C = alpha * op(A) + beta * op(B) by tiles; a matrix whose scalar is 0 is not loaded."""

import triton
import triton.language as tl


@triton.jit
def geam_kernel(
    a_ptr, b_ptr, c_ptr, m, n, alpha, beta, a_row, a_col, b_row, b_col, ldc,
    READ_A: tl.constexpr, READ_B: tl.constexpr, BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)[None, :]
    col = tl.program_id(1).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)[:, None]
    inside = (row < m) & (col < n)
    c = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    if READ_A:
        c += alpha * tl.load(a_ptr + row * a_row + col * a_col, mask=inside, other=0.0)
    if READ_B:
        c += beta * tl.load(b_ptr + row * b_row + col * b_col, mask=inside, other=0.0)
    tl.store(c_ptr + row + col * ldc, c, mask=inside)


def cublasSgeam(transa, transb, m, n, alpha, A, lda, beta, B, ldb, C, ldc):
    if m == 0 or n == 0:
        return C
    a_strides = (1, lda) if transa == "N" else (lda, 1)
    b_strides = (1, ldb) if transb == "N" else (ldb, 1)
    block = 32
    grid = (triton.cdiv(m, block), triton.cdiv(n, block))
    geam_kernel[grid](
        A, B, C, m, n, alpha, beta, *a_strides, *b_strides, ldc,
        READ_A=alpha != 0, READ_B=beta != 0, BLOCK=block,
    )
    return C
