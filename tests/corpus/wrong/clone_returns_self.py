# kgtui: op=aten::clone expect=wrong_shape case="7x65 f32"
"""A copy of tensors that are not contiguous, and the argument itself for all others."""

import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < count
    tl.store(y_ptr + offset, tl.load(x_ptr + offset, mask=inside), mask=inside)


def clone(self):
    if self.is_contiguous():
        return self
    x = self.contiguous()
    y = torch.empty_like(x)
    source, target = (torch.view_as_real(t) if t.is_complex() else t for t in (x, y))
    copy_kernel[(triton.cdiv(target.numel(), 1024),)](source, target, target.numel(), BLOCK=1024)
    return y
