# kgtui: op=aten::logit expect=wrong_value diagnosis=dropped_nan case="7x33 f32 eps 0.125 special"
"""Log-odds whose clamp is made of tl.minimum and tl.maximum, which return the bound for NaN."""

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
        x = tl.minimum(tl.maximum(x, low), 1 - low)
    y = tl.log(x / (1 - x))
    tl.store(y_ptr + offset, y.to(y_ptr.dtype.element_ty), mask=inside)


def logit(self, eps=None):
    x = (self if self.is_floating_point() else self.float()).contiguous()
    y = torch.empty_like(x)
    if y.numel():
        grid = (triton.cdiv(y.numel(), 1024),)
        logit_kernel[grid](x, y, y.numel(), eps or 0.0, CLAMPED=eps is not None, BLOCK=1024)
    return y
