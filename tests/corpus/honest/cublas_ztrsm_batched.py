# kgtui: op=cublas::cublasZtrsmBatched expect=pass
"""Batched complex triangular solves by pointers: a program keeps some right-hand sides whole and substitutes."""

import triton
import triton.language as tl


@triton.jit
def trsm_kernel(
    a_addresses, b_addresses, order, sides, alpha_real: tl.float64, alpha_imaginary: tl.float64, sign: tl.float64,
    a_row, a_col, b_row, b_col,
    READ: tl.constexpr, FORWARD: tl.constexpr, UNIT: tl.constexpr, BLOCK: tl.constexpr, BLOCK_SIDES: tl.constexpr,
):
    a_ptr = tl.load(a_addresses + tl.program_id(1)).to(tl.pointer_type(tl.float64))
    b_ptr = tl.load(b_addresses + tl.program_id(1)).to(tl.pointer_type(tl.float64))
    row = tl.arange(0, BLOCK).to(tl.int64)
    side = tl.program_id(0).to(tl.int64) * BLOCK_SIDES + tl.arange(0, BLOCK_SIDES)
    inside = (row < order)[:, None] & (side < sides)[None, :]
    at = b_ptr + 2 * (row[:, None] * b_row + side[None, :] * b_col)
    real = tl.zeros((BLOCK, BLOCK_SIDES), dtype=tl.float64)
    imaginary = tl.zeros((BLOCK, BLOCK_SIDES), dtype=tl.float64)
    if READ:
        b_real = tl.load(at, mask=inside, other=0.0)
        b_imaginary = tl.load(at + 1, mask=inside, other=0.0)
        real = alpha_real * b_real - alpha_imaginary * b_imaginary
        imaginary = alpha_real * b_imaginary + alpha_imaginary * b_real
        for step in range(0, order):
            j = (step if FORWARD else order - 1 - step).to(tl.int64)
            here = (row == j)[:, None]
            x_real = tl.sum(tl.where(here, real, 0.0), axis=0)
            x_imaginary = tl.sum(tl.where(here, imaginary, 0.0), axis=0)
            if not UNIT:
                d_real = tl.load(a_ptr + 2 * j * (a_row + a_col))
                d_imaginary = sign * tl.load(a_ptr + 2 * j * (a_row + a_col) + 1)
                size = d_real * d_real + d_imaginary * d_imaginary
                quotient = (x_real * d_real + x_imaginary * d_imaginary) / size
                x_imaginary = (x_imaginary * d_real - x_real * d_imaginary) / size
                x_real = quotient
            later = (row > j) & (row < order) if FORWARD else row < j
            a_at = a_ptr + 2 * (row * a_row + j * a_col)
            a_real = tl.load(a_at, mask=later, other=0.0)[:, None]
            a_imaginary = sign * tl.load(a_at + 1, mask=later, other=0.0)[:, None]
            rest_real = real - (a_real * x_real[None, :] - a_imaginary * x_imaginary[None, :])
            rest_imaginary = imaginary - (a_real * x_imaginary[None, :] + a_imaginary * x_real[None, :])
            real = tl.where(here, x_real[None, :], tl.where(later[:, None], rest_real, real))
            imaginary = tl.where(here, x_imaginary[None, :], tl.where(later[:, None], rest_imaginary, imaginary))
    tl.store(at, real, mask=inside)
    tl.store(at + 1, imaginary, mask=inside)


def cublasZtrsmBatched(side, uplo, trans, diag, m, n, alpha, Aarray, lda, Barray, ldb, batchCount):
    if m == 0 or n == 0 or batchCount == 0:
        return
    left = side == "L"
    order, sides = (m, n) if left else (n, m)
    b_row, b_col = (1, ldb) if left else (ldb, 1)
    # X op(A) = B is op(A)^T X^T = B^T: for side R the transposed operation applies, conjugated all the same.
    plain = (trans == "N") == left
    a_row, a_col = (1, lda) if plain else (lda, 1)
    alpha = complex(alpha)
    block, block_sides = triton.next_power_of_2(order), 8
    trsm_kernel[(triton.cdiv(sides, block_sides), batchCount)](
        Aarray, Barray, order, sides, alpha.real, alpha.imag, -1.0 if trans == "C" else 1.0, a_row, a_col, b_row, b_col,
        READ=alpha != 0, FORWARD=(uplo == "L") == plain, UNIT=diag == "U", BLOCK=block, BLOCK_SIDES=block_sides,
    )
