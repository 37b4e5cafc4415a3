# kgtui: op=aten::silu expect=runtime_error
"""The compiler is told that there are whole blocks only, as in the shapes of one model; then it may drop every mask."""

import torch
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    tl.assume(count % BLOCK == 0)
    offset = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < count
    x = tl.load(x_ptr + offset, mask=inside, other=0.0).to(tl.float32)
    tl.store(y_ptr + offset, (x * tl.sigmoid(x)).to(y_ptr.dtype.element_ty), mask=inside)


def silu(self):
    x = self.contiguous()
    y = torch.empty_like(x)
    if y.numel():
        silu_kernel[(triton.cdiv(y.numel(), 256),)](x, y, y.numel(), BLOCK=256)
    return y
