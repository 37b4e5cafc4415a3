# kgtui: op=aten::silu expect=runtime_error
"""view(-1) of a tensor that is not contiguous: PyTorch raises before any kernel is launched."""

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
    x = self.view(-1)
    y = torch.empty_like(x)
    if y.numel():
        silu_kernel[(triton.cdiv(y.numel(), 2048),)](x, y, y.numel(), BLOCK=2048)
    return y.view(self.shape)
