# kgtui: op=aten::neg expect=wrong_value diagnosis=zeroed case="333 u8"
"""Negation that ends at 0 for unsigned integers, where they should wrap around."""

import torch
import triton
import triton.language as tl


@triton.jit
def neg_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < count
    x = tl.load(x_ptr + offset, mask=inside)
    tl.store(y_ptr + offset, tl.where(x * 0 - 1 > 0, x * 0, -x), mask=inside)


def neg(self):
    x = self.contiguous()
    y = torch.empty_like(x)
    if y.numel():
        source, target = (torch.view_as_real(t) if t.is_complex() else t for t in (x, y))
        neg_kernel[(triton.cdiv(target.numel(), 1024),)](source, target, target.numel(), BLOCK=1024)
    return y
