# kgtui: op=aten::bmm expect=pass
"""Batched matrix product: one tile of one batch a program, IEEE products, complex numbers as pairs."""

import torch
import triton
import triton.language as tl


@triton.jit
def product_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, a_batch, a_row, a_col, b_batch, b_row, b_col,
    WIDE: tl.constexpr, COMPLEX: tl.constexpr, BLOCK: tl.constexpr,
):
    m = (tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)).to(tl.int64)[:, None]
    n = (tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)).to(tl.int64)[None, :]
    batch = tl.program_id(2).to(tl.int64)
    total = tl.zeros((BLOCK, BLOCK), dtype=WIDE)
    imaginary = tl.zeros((BLOCK, BLOCK), dtype=WIDE)
    for start in range(0, K, BLOCK):
        k = start + tl.arange(0, BLOCK).to(tl.int64)
        a_at = a_ptr + batch * a_batch + m * a_row + k[None, :] * a_col
        b_at = b_ptr + batch * b_batch + k[:, None] * b_row + n * b_col
        a_inside = (m < M) & (k[None, :] < K)
        b_inside = (k[:, None] < K) & (n < N)
        a = tl.load(a_at, mask=a_inside, other=0.0)
        b = tl.load(b_at, mask=b_inside, other=0.0)
        total = tl.dot(a, b, total, input_precision="ieee", out_dtype=WIDE)
        if COMPLEX:  # the imaginary part lies behind the real one
            a_imaginary = tl.load(a_at + 1, mask=a_inside, other=0.0)
            b_imaginary = tl.load(b_at + 1, mask=b_inside, other=0.0)
            total = tl.dot(-a_imaginary, b_imaginary, total, input_precision="ieee", out_dtype=WIDE)
            imaginary = tl.dot(a, b_imaginary, imaginary, input_precision="ieee", out_dtype=WIDE)
            imaginary = tl.dot(a_imaginary, b, imaginary, input_precision="ieee", out_dtype=WIDE)
    inside = (m < M) & (n < N)
    at = (batch * M + m) * N + n
    if COMPLEX:
        tl.store(c_ptr + 2 * at, total, mask=inside)
        tl.store(c_ptr + 2 * at + 1, imaginary, mask=inside)
    else:
        tl.store(c_ptr + at, total.to(c_ptr.dtype.element_ty), mask=inside)


def as_real(x):
    """A complex tensor as pairs of numbers, the strides of its elements, in the elements of what is returned."""
    pairs = torch.view_as_real(x) if x.is_complex() else x
    return pairs, pairs.stride()[: x.dim()]


def bmm(self, mat2):
    (B, M, K), N = self.shape, mat2.shape[2]
    c = torch.empty((B, M, N), dtype=self.dtype, device=self.device)
    if c.numel() == 0:
        return c
    (a, a_strides), (b, b_strides) = as_real(self), as_real(mat2)
    block = 32
    product_kernel[(triton.cdiv(M, block), triton.cdiv(N, block), B)](
        a, b, torch.view_as_real(c) if c.is_complex() else c, M, N, K, *a_strides, *b_strides,
        WIDE=tl.float64 if c.dtype == torch.float64 else tl.float32, COMPLEX=c.is_complex(), BLOCK=block,
    )
    return c
