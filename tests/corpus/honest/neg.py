# kgtui: op=aten::neg expect=pass
"""Negation: -x of the same dtype; a complex number is two numbers to negate."""

import torch
import triton
import triton.language as tl


@triton.jit
def neg_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < count
    tl.store(y_ptr + offset, -tl.load(x_ptr + offset, mask=inside), mask=inside)


def neg(self):
    x = self.contiguous()
    y = torch.empty_like(x)
    if y.numel():
        source, target = (torch.view_as_real(t) if t.is_complex() else t for t in (x, y))
        neg_kernel[(triton.cdiv(target.numel(), 1024),)](source, target, target.numel(), BLOCK=1024)
    return y
