# kgtui: op=aten::silu expect=pass
"""SiLU by exp2, with the block size and log2(e) as global tl.constexpr constants."""

import torch
import triton
import triton.language as tl

BLOCK = tl.constexpr(4096)
LOG2_E: tl.constexpr = tl.constexpr(1.4426950408889634)


@triton.jit
def silu_kernel(x_ptr, y_ptr, count):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < count
    x = tl.load(x_ptr + offset, mask=inside, other=0.0)
    wide = x.to(tl.float32)
    y = wide / (1.0 + tl.exp2(-wide * LOG2_E))
    tl.store(y_ptr + offset, y.to(x.dtype), mask=inside)


def silu(self):
    x = self.contiguous()
    y = torch.empty_like(x)
    if y.numel():
        silu_kernel[(triton.cdiv(x.numel(), BLOCK.value),)](x, y, x.numel(), num_warps=8)
    return y
