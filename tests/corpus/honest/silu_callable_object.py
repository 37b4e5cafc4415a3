# kgtui: op=aten::silu expect=pass
"""The entry is an object with __call__ that keeps its settings; nothing that depends on the input stays in it."""

import torch
import triton
import triton.language as tl


@triton.jit
def sigmoid(x):
    return 1.0 / (1.0 + tl.exp(-x))


@triton.jit
def silu_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offset, mask=offset < count, other=0.0).to(tl.float32)
    tl.store(y_ptr + offset, (x * sigmoid(x)).to(y_ptr.dtype.element_ty), mask=offset < count)


class Elementwise:
    """Applies a kernel of (input, output, count, BLOCK) to any tensor."""

    def __init__(self, kernel, *, block, warps):
        self.kernel = kernel
        self.block = block
        self.warps = warps

    def grid(self, count):
        return (triton.cdiv(count, self.block),)

    def __call__(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        if x.numel():
            self.kernel[self.grid(x.numel())](x, y, x.numel(), BLOCK=self.block, num_warps=self.warps)
        return y


silu = Elementwise(silu_kernel, block=4096, warps=8)
