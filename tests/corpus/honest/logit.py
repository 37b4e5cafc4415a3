# kgtui: op=aten::logit expect=pass
"""Log-odds; a clamp to eps is made of comparisons, which leave NaN as it is."""

import torch
import triton
import triton.language as tl


@triton.jit
def logit_kernel(x_ptr, y_ptr, count, eps: tl.float64, CLAMPED: tl.constexpr, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < count
    x = tl.load(x_ptr + offset, mask=inside, other=0.5)
    x = x if x.dtype == tl.float64 else x.to(tl.float32)
    if CLAMPED:
        low = eps.to(x.dtype)
        x = tl.where(x < low, low, tl.where(x > 1 - low, 1 - low, x))
    y = tl.log(x / (1 - x))
    tl.store(y_ptr + offset, y.to(y_ptr.dtype.element_ty), mask=inside)


def logit(self, eps=None):
    x = (self if self.is_floating_point() else self.float()).contiguous()
    y = torch.empty_like(x)
    if y.numel():
        grid = (triton.cdiv(y.numel(), 1024),)
        logit_kernel[grid](x, y, y.numel(), eps or 0.0, CLAMPED=eps is not None, BLOCK=1024)
    return y
