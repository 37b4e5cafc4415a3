# kgtui: op=cublas::cublasStrsm_v2 expect=pass
"""op(A) X = alpha * B: a program keeps some right-hand sides whole and substitutes; side R is the transposed problem."""

import triton
import triton.language as tl


@triton.jit
def trsm_kernel(
    a_ptr, b_ptr, order, sides, alpha, a_row, a_col, b_row, b_col,
    READ: tl.constexpr, FORWARD: tl.constexpr, UNIT: tl.constexpr, BLOCK: tl.constexpr, BLOCK_SIDES: tl.constexpr,
):
    row = tl.arange(0, BLOCK).to(tl.int64)
    side = tl.program_id(0).to(tl.int64) * BLOCK_SIDES + tl.arange(0, BLOCK_SIDES)
    inside = (row < order)[:, None] & (side < sides)[None, :]
    at = b_ptr + row[:, None] * b_row + side[None, :] * b_col
    x = tl.zeros((BLOCK, BLOCK_SIDES), dtype=tl.float32)
    if READ:
        x = alpha * tl.load(at, mask=inside, other=0.0)
        for step in range(0, order):
            j = (step if FORWARD else order - 1 - step).to(tl.int64)
            value = tl.sum(tl.where((row == j)[:, None], x, 0.0), axis=0)
            if not UNIT:
                value = value / tl.load(a_ptr + j * (a_row + a_col))
            later = (row > j) & (row < order) if FORWARD else row < j
            a = tl.load(a_ptr + row * a_row + j * a_col, mask=later, other=0.0)
            rest = tl.where(later[:, None], x - a[:, None] * value[None, :], x)
            x = tl.where((row == j)[:, None], value[None, :], rest)
    tl.store(at, x, mask=inside)


def cublasStrsm_v2(side, uplo, trans, diag, m, n, alpha, A, lda, B, ldb):
    if m == 0 or n == 0:
        return B
    left = side == "L"
    order, sides = (m, n) if left else (n, m)
    b_row, b_col = (1, ldb) if left else (ldb, 1)
    # X op(A) = B is op(A)^T X^T = B^T: for side R the other operation applies.
    plain = (trans == "N") == left
    a_row, a_col = (1, lda) if plain else (lda, 1)
    block, block_sides = triton.next_power_of_2(order), 8
    trsm_kernel[(triton.cdiv(sides, block_sides),)](
        A, B, order, sides, alpha, a_row, a_col, b_row, b_col,
        READ=alpha != 0, FORWARD=(uplo == "L") == plain, UNIT=diag == "U", BLOCK=block, BLOCK_SIDES=block_sides,
    )
    return B
