# kgtui: op=aten::silu expect=pass
"""SiLU in place, on a contiguous copy of the input: the caller's tensor stays as it was."""

import torch
import triton
import triton.language as tl


@triton.jit
def silu_in_place(x_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < count
    x = tl.load(x_ptr + offset, mask=inside, other=0.0)
    wide = x.to(tl.float32)
    tl.store(x_ptr + offset, (wide * tl.sigmoid(wide)).to(x.dtype), mask=inside)


def silu(self):
    y = self.clone(memory_format=torch.contiguous_format)
    if y.numel():
        silu_in_place[(triton.cdiv(y.numel(), 2048),)](y, y.numel(), BLOCK=2048, num_warps=4)
    return y
