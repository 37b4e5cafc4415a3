# kgtui: op=aten::zeros expect=pass
"""Zeros in new memory, complex ones as pairs of numbers."""

import torch
import triton
import triton.language as tl


@triton.jit
def zeros_kernel(y_ptr, count, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.zeros((BLOCK,), dtype=y_ptr.dtype.element_ty), mask=at < count)


def zeros(size, dtype=None, device=None):
    y = torch.empty(size, dtype=dtype, device=device)
    if y.numel():
        numbers = torch.view_as_real(y) if y.is_complex() else y
        block = 1024
        zeros_kernel[(triton.cdiv(numbers.numel(), block),)](numbers, numbers.numel(), BLOCK=block)
    return y
