# kgtui: op=aten::silu expect=wrong_value|nonfinite diagnosis=unwritten_output case="1000 f32"
"""The grid is rounded down, so that the elements after the last whole block keep what the allocator left there."""

import torch
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < count
    x = tl.load(x_ptr + offset, mask=inside, other=0.0).to(tl.float32)
    tl.store(y_ptr + offset, (x * tl.sigmoid(x)).to(y_ptr.dtype.element_ty), mask=inside)


def silu(self):
    x = self.contiguous()
    y = torch.empty_like(x)
    if y.numel():
        silu_kernel[(max(1, y.numel() // 256),)](x, y, y.numel(), BLOCK=256)
    return y
