# kgtui: op=aten::silu expect=pass
"""A factory makes elementwise kernels from a function handed in as tl.constexpr; SiLU is the one that is asked for."""

import torch
import triton
import triton.language as tl


@triton.jit
def swish(x):
    return x * tl.sigmoid(x)


@triton.jit
def elementwise_kernel(x_ptr, y_ptr, count, FUNCTION: tl.constexpr, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offset, mask=offset < count, other=0.0)
    y = FUNCTION(x.to(tl.float32))
    tl.store(y_ptr + offset, y.to(x.dtype), mask=offset < count)


def elementwise(function, block=4096):
    """An operator of torch's kind that applies `function` to every element."""

    def operator(self):
        x = self.contiguous()
        y = torch.empty_like(x)
        if x.numel():
            grid = (triton.cdiv(x.numel(), block),)
            elementwise_kernel[grid](x, y, x.numel(), FUNCTION=function, BLOCK=block, num_warps=8)
        return y

    return operator


silu = elementwise(swish)
