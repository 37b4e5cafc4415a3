# kgtui: op=aten::silu expect=wrong_value diagnosis=wrong_stride case="9x65 f32 transposed"
"""The input is read as if it were contiguous, but its strides are never looked at."""

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
    y = torch.empty(self.shape, dtype=self.dtype, device=self.device)
    if y.numel():
        silu_kernel[(triton.cdiv(y.numel(), 2048),)](self, y, y.numel(), BLOCK=2048)
    return y
