# kgtui: op=aten::add expect=pass
"""Addition onto a copy of self that torch has broadcast: the kernel adds alpha * other to it in place."""

import torch
import triton
import triton.language as tl


@triton.jit
def accumulate(y_ptr, other_ptr, count, alpha, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < count
    y = tl.load(y_ptr + offset, mask=inside, other=0)
    other = tl.load(other_ptr + offset, mask=inside, other=0)
    if y.dtype.is_floating():
        total = y.to(tl.float32) + alpha * other.to(tl.float32)
    else:
        total = y + alpha * other
    tl.store(y_ptr + offset, total.to(y.dtype), mask=inside)


def add(self, other, alpha=1):
    shape = torch.broadcast_shapes(self.shape, other.shape)
    y = torch.empty(shape, dtype=self.dtype, device=self.device)
    y.copy_(self)
    other = other.expand(shape).contiguous()
    alpha = float(alpha) if y.is_floating_point() else alpha
    if y.numel():
        accumulate[(triton.cdiv(y.numel(), 4096),)](y, other, y.numel(), alpha, BLOCK=4096, num_warps=8)
    return y
