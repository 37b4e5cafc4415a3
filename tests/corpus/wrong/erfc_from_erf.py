# kgtui: op=aten::erfc expect=wrong_value diagnosis=zeroed case="600 f32 tail"
"""Complementary error function as 1 - erf(x): beyond x = 4 nothing is left of the small values."""

import torch
import triton
import triton.language as tl


@triton.jit
def erfc_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < count
    x = tl.load(x_ptr + offset, mask=inside, other=1)
    x = x if x.dtype == tl.float64 else x.to(tl.float32)
    y = 1.0 - tl.erf(x)
    tl.store(y_ptr + offset, y.to(y_ptr.dtype.element_ty), mask=inside)


def erfc(self):
    x = (self if self.is_floating_point() else self.float()).contiguous()
    y = torch.empty_like(x)
    if y.numel():
        erfc_kernel[(triton.cdiv(y.numel(), 1024),)](x, y, y.numel(), BLOCK=1024)
    return y
