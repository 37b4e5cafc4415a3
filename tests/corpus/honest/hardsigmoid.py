# kgtui: op=aten::hardsigmoid expect=pass
"""Hard sigmoid, flat over the elements of a contiguous tensor."""

import torch
import triton
import triton.language as tl


@triton.jit
def hardsigmoid_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < count
    x = tl.load(x_ptr + offset, mask=inside, other=0)
    x = x if x.dtype == tl.float64 else x.to(tl.float32)
    y = tl.where(x != x, x, tl.minimum(tl.maximum(x + 3.0, 0.0), 6.0) / 6.0)
    tl.store(y_ptr + offset, y.to(y_ptr.dtype.element_ty), mask=inside)


def hardsigmoid(self):
    x = self.contiguous()
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if y.numel():
        hardsigmoid_kernel[(triton.cdiv(y.numel(), 1024),)](x, y, y.numel(), BLOCK=1024)
    return y
