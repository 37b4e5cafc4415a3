# kgtui: op=aten::add expect=wrong_value diagnosis=wrong_stride case="33x1 + 33x65 f32"
"""A wrong broadcast: the smaller operand is repeated from its beginning, which is right for the last dimension only."""

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, other_ptr, y_ptr, alpha, count, x_count, other_count, BLOCK: tl.constexpr):
    offset = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < count
    x = tl.load(x_ptr + offset % x_count, mask=inside, other=0)
    other = tl.load(other_ptr + offset % other_count, mask=inside, other=0)
    tl.store(y_ptr + offset, (x + other * alpha).to(y_ptr.dtype.element_ty), mask=inside)


def add(self, other, alpha=1):
    x, other = self.contiguous(), other.contiguous()
    y = torch.empty(torch.broadcast_shapes(x.shape, other.shape), dtype=self.dtype, device=self.device)
    if y.numel():
        grid = (triton.cdiv(y.numel(), 2048),)
        add_kernel[grid](x, other, y, alpha, y.numel(), x.numel(), other.numel(), BLOCK=2048)
    return y
