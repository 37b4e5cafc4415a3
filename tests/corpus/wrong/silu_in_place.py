# kgtui: op=aten::silu expect=mutated_input
"""The result is right, but the kernel also leaves it in the input."""

import torch
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < count
    x = tl.load(x_ptr + offset, mask=inside, other=0.0)
    wide = x.to(tl.float32)
    y = (wide * tl.sigmoid(wide)).to(x.dtype)
    tl.store(x_ptr + offset, y, mask=inside)
    tl.store(y_ptr + offset, y, mask=inside)


def silu(self):
    x = self.contiguous()
    y = torch.empty_like(x)
    if y.numel():
        silu_kernel[(triton.cdiv(y.numel(), 2048),)](x, y, y.numel(), BLOCK=2048)
    return y
