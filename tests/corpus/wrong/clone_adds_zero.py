# kgtui: op=aten::clone expect=wrong_value diagnosis=zero_sign case="7x33 f32 special"
"""A copy that adds 0 to every element: -0.0 + 0.0 is 0.0."""

import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < count
    tl.store(y_ptr + offset, tl.load(x_ptr + offset, mask=inside) + 0, mask=inside)


def clone(self):
    x = self.contiguous()
    y = torch.empty_like(x)
    if y.numel() and x.dtype != torch.bool:
        source, target = (torch.view_as_real(t) if t.is_complex() else t for t in (x, y))
        copy_kernel[(triton.cdiv(target.numel(), 1024),)](source, target, target.numel(), BLOCK=1024)
    return y if x.dtype != torch.bool else x.clone()
