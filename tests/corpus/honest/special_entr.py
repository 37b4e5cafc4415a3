# kgtui: op=aten::special_entr expect=pass
"""Entropy term, case by case, flat over the elements of a contiguous tensor."""

import torch
import triton
import triton.language as tl


@triton.jit
def special_entr_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < count
    x = tl.load(x_ptr + offset, mask=inside, other=0)
    x = x if x.dtype == tl.float64 else x.to(tl.float32)
    inner = -x * tl.log(x)
    y = tl.where(x == 0, 0.0, tl.where(x < 0, float('-inf'), inner))
    tl.store(y_ptr + offset, y.to(y_ptr.dtype.element_ty), mask=inside)


def special_entr(self):
    x = self.contiguous()
    y = torch.empty(x.shape, dtype=x.dtype if x.dtype.is_floating_point else torch.float32, device=x.device)
    if y.numel():
        special_entr_kernel[(triton.cdiv(y.numel(), 1024),)](x, y, y.numel(), BLOCK=1024)
    return y
