# kgtui: op=cublas::cublasSgemm_v2 expect=wrong_value diagnosis=ignored_argument case="17x33x65 NN alpha 2 beta -0.5"
"""alpha multiplies the whole of op(A) @ op(B) + beta * C, not the product alone."""

import triton
import triton.language as tl


@triton.jit
def sgemm_kernel(
    a_ptr, b_ptr, c_ptr, m, n, k, alpha, beta, a_row, a_col, b_row, b_col, ldc,
    READ_C: tl.constexpr, SIDE: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64) * SIDE + tl.arange(0, SIDE)[:, None]
    col = tl.program_id(1).to(tl.int64) * SIDE + tl.arange(0, SIDE)[None, :]
    total = tl.zeros((SIDE, SIDE), dtype=tl.float32)
    for start in range(0, k, SIDE):
        along, down = (start + tl.arange(0, SIDE))[None, :], (start + tl.arange(0, SIDE))[:, None]
        a = tl.load(a_ptr + row * a_row + along * a_col, mask=(row < m) & (along < k), other=0.0)
        b = tl.load(b_ptr + down * b_row + col * b_col, mask=(down < k) & (col < n), other=0.0)
        total = tl.dot(a, b, total, input_precision="ieee")
    at, inside = c_ptr + row + col * ldc, (row < m) & (col < n)
    if READ_C:
        total += beta * tl.load(at, mask=inside, other=0.0)
    tl.store(at, alpha * total, mask=inside)


def cublasSgemm_v2(transa, transb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc):
    if m and n:
        a_strides = (1, lda) if transa in ("N", "n") else (lda, 1)
        b_strides = (1, ldb) if transb in ("N", "n") else (ldb, 1)
        sgemm_kernel[(triton.cdiv(m, 32), triton.cdiv(n, 32))](
            A, B, C, m, n, k, float(alpha), float(beta), *a_strides, *b_strides, ldc, READ_C=beta != 0, SIDE=32,
        )
    return C
