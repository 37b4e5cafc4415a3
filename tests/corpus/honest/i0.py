# kgtui: op=aten::i0 expect=pass
"""Bessel function of order 0: the power series in double precision, whose terms are all positive."""

import torch
import triton
import triton.language as tl

# For |x| < 100 the terms after these are below 1e-17 of the sum.
TERMS = 170


@triton.jit
def i0_kernel(x_ptr, y_ptr, count, TERMS: tl.constexpr, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < count
    x = tl.load(x_ptr + offset, mask=inside, other=1)
    x = x.to(tl.float64)
    quarter = x * x * 0.25
    term = tl.full((BLOCK,), 1.0, dtype=tl.float64)
    total = term
    for k in range(1, TERMS + 1):
        term = term * quarter / (k * k)
        total += term
    y = total
    tl.store(y_ptr + offset, y.to(y_ptr.dtype.element_ty), mask=inside)


def i0(self):
    x = (self if self.is_floating_point() else self.float()).contiguous()
    y = torch.empty_like(x)
    if y.numel():
        i0_kernel[(triton.cdiv(y.numel(), 1024),)](x, y, y.numel(), TERMS=TERMS, BLOCK=1024)
    return y
