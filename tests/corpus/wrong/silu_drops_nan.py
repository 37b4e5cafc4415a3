# kgtui: op=aten::silu expect=wrong_value diagnosis=dropped_nan case="7x33 f32 special"
"""SiLU whose input is clamped from below with tl.maximum, which returns the other operand for NaN."""

import torch
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < count
    x = tl.load(x_ptr + offset, mask=inside, other=0.0).to(tl.float32)
    x = tl.maximum(x, -100.0)  # NaN becomes -100
    tl.store(y_ptr + offset, (x / (1.0 + tl.exp(-x))).to(y_ptr.dtype.element_ty), mask=inside)


def silu(self):
    x = self.contiguous()
    y = torch.empty_like(x)
    if x.numel():
        silu_kernel[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
    return y
