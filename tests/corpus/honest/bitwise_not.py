# kgtui: op=aten::bitwise_not expect=pass
"""Complement of integers, logical not of booleans, flat over the elements of a contiguous tensor."""

import torch
import triton
import triton.language as tl


@triton.jit
def bitwise_not_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < count
    x = tl.load(x_ptr + offset, mask=inside, other=0)
    y = x == 0 if y_ptr.dtype.element_ty == tl.int1 else ~x
    tl.store(y_ptr + offset, y.to(y_ptr.dtype.element_ty), mask=inside)


def bitwise_not(self):
    x = self.contiguous()
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if y.numel():
        bitwise_not_kernel[(triton.cdiv(y.numel(), 1024),)](x, y, y.numel(), BLOCK=1024)
    return y
