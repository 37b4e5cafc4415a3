# kgtui: op=aten::linear expect=pass
"""A linear layer as one product: the weight is read by exchanged strides, the bias is added to the accumulator."""

import torch
import triton
import triton.language as tl


@triton.jit
def product_kernel(
    a_ptr, b_ptr, bias_ptr, c_ptr, M, N, K, a_batch, a_row, a_col, b_batch, b_row, b_col, bias_stride,
    WIDE: tl.constexpr, COMPLEX: tl.constexpr, BIAS: tl.constexpr, BLOCK: tl.constexpr,
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
    if BIAS:
        total += tl.load(bias_ptr + n * bias_stride, mask=n < N, other=0.0).to(WIDE)
        if COMPLEX:
            imaginary += tl.load(bias_ptr + n * bias_stride + 1, mask=n < N, other=0.0).to(WIDE)
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


def linear(input, weight, bias=None):
    N, K = weight.shape
    c = torch.empty((*input.shape[:-1], N), dtype=input.dtype, device=input.device)
    if c.numel() == 0:
        return c
    M, block = c.numel() // N, 32
    rows = input.reshape(M, K)
    (a, a_strides), (b, b_strides) = as_real(rows), as_real(weight)
    added, added_strides = as_real(bias) if bias is not None else (b, (0,))
    product_kernel[(triton.cdiv(M, block), triton.cdiv(N, block), 1)](
        a, b, added, torch.view_as_real(c) if c.is_complex() else c, M, N, K,
        0, *a_strides, 0, *reversed(b_strides), *added_strides,
        WIDE=tl.float64 if c.dtype == torch.float64 else tl.float32, COMPLEX=c.is_complex(), BIAS=bias is not None, BLOCK=block,
    )
    return c
