# kgtui: op=aten::silu expect=runtime_error
"""A race inside a program: each half of a block is stored to the result, and computed by the lanes of the other half.

The halves are in different warps, which run independently, and no barrier orders the stores before the loads.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    start = tl.program_id(0) * BLOCK
    lane = tl.arange(0, BLOCK)
    mine, other = start + lane, start + (lane + BLOCK // 2) % BLOCK
    x = tl.load(x_ptr + mine, mask=mine < count)
    tl.store(y_ptr + mine, x, mask=mine < count)
    y = tl.load(y_ptr + other, mask=other < count).to(tl.float32)
    tl.store(y_ptr + other, (y * tl.sigmoid(y)).to(x.dtype), mask=other < count)


def silu(self):
    x = self.contiguous()
    y = torch.empty_like(x)
    if x.numel():
        silu_kernel[(triton.cdiv(x.numel(), 128),)](x, y, x.numel(), BLOCK=128)
    return y.reshape(self.shape)
