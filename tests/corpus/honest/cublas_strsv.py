# kgtui: op=cublas::cublasStrsv_v2 expect=pass
"""op(A) x = b by blocks: one program solves the diagonal block column by column, then all others subtract it."""

import triton
import triton.language as tl


@triton.jit
def solve_kernel(
    a_ptr, x_ptr, first, n, a_row, a_col, x_first, incx, FORWARD: tl.constexpr, UNIT: tl.constexpr, BLOCK: tl.constexpr
):
    step = tl.arange(0, BLOCK)
    row = (first + step if FORWARD else first - step).to(tl.int64)
    inside = (row >= 0) & (row < n)
    x_at = x_ptr + x_first + row * incx
    x = tl.load(x_at, mask=inside, other=0.0)
    for j in range(0, BLOCK):
        col = (first + j if FORWARD else first - j).to(tl.int64)
        if (col >= 0) & (col < n):
            value = tl.sum(tl.where(step == j, x, 0.0))
            if not UNIT:
                value = value / tl.load(a_ptr + col * (a_row + a_col))
            later = inside & (step > j)
            a = tl.load(a_ptr + row * a_row + col * a_col, mask=later, other=0.0)
            x = tl.where(step == j, value, tl.where(later, x - a * value, x))
    tl.store(x_at, x, mask=inside)


@triton.jit
def subtract_kernel(
    a_ptr, x_ptr, first, n, a_row, a_col, x_first, incx,
    FORWARD: tl.constexpr, BLOCK: tl.constexpr, BLOCK_ROWS: tl.constexpr,
):
    step = tl.arange(0, BLOCK)
    away = BLOCK + tl.program_id(0).to(tl.int64) * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)
    col = (first + step if FORWARD else first - step).to(tl.int64)
    row = first + away if FORWARD else first - away
    known, rest = (col >= 0) & (col < n), (row >= 0) & (row < n)
    solved = tl.load(x_ptr + x_first + col * incx, mask=known, other=0.0)
    a = tl.load(
        a_ptr + row[:, None] * a_row + col[None, :] * a_col, mask=rest[:, None] & known[None, :], other=0.0
    )
    x_at = x_ptr + x_first + row * incx
    x = tl.load(x_at, mask=rest, other=0.0)
    tl.store(x_at, x - tl.sum(a * solved[None, :], axis=1), mask=rest)


def cublasStrsv_v2(uplo, trans, diag, n, A, lda, x, incx):
    a_row, a_col = (1, lda) if trans == "N" else (lda, 1)
    x_first = (1 - n) * incx if incx < 0 else 0
    forward = (uplo == "L") == (trans == "N")
    block, block_rows = 64, 64
    for solved in range(0, n, block):
        first = solved if forward else n - 1 - solved
        solve_kernel[(1,)](
            A, x, first, n, a_row, a_col, x_first, incx, FORWARD=forward, UNIT=diag == "U", BLOCK=block, num_warps=2,
        )
        rest = n - solved - block
        if rest > 0:
            subtract_kernel[(triton.cdiv(rest, block_rows),)](
                A, x, first, n, a_row, a_col, x_first, incx, FORWARD=forward, BLOCK=block, BLOCK_ROWS=block_rows,
            )
    return x
