# kgtui: op=aten::add expect=wrong_value diagnosis=precision case="700 i64 alpha 1"
"""Integers are added in float64, which holds 53 bits of them."""

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, other_ptr, y_ptr, alpha, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < count
    x = tl.load(x_ptr + offset, mask=inside, other=0).to(tl.float64)
    other = tl.load(other_ptr + offset, mask=inside, other=0).to(tl.float64)
    tl.store(y_ptr + offset, (x + other * alpha.to(tl.float64)).to(y_ptr.dtype.element_ty), mask=inside)


def add(self, other, alpha=1):
    x, other = torch.broadcast_tensors(self, other)
    x, other = x.contiguous(), other.contiguous()
    y = torch.empty(x.shape, dtype=self.dtype, device=x.device)
    if y.numel():
        add_kernel[(triton.cdiv(y.numel(), 2048),)](x, other, y, float(alpha), y.numel(), BLOCK=2048)
    return y
