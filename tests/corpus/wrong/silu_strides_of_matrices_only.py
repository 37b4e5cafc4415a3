# kgtui: op=aten::silu expect=wrong_value diagnosis=wrong_stride case="5x7x9 f32 transposed"
"""Minds the strides of matrices, and of nothing with more or fewer dimensions."""

import torch
import triton
import triton.language as tl


@triton.jit
def sigmoid(x):
    return 1.0 / (1.0 + tl.exp(-x))


@triton.jit
def silu_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < count
    x = tl.load(x_ptr + offset, mask=inside, other=0.0)
    wide = x if x.dtype == tl.float64 else x.to(tl.float32)
    tl.store(y_ptr + offset, (wide * sigmoid(wide)).to(x.dtype), mask=inside)


def silu(self):
    x = self.contiguous() if self.dim() == 2 else self.as_strided(self.shape, torch.empty(self.shape, device='meta').stride())
    y = torch.empty_like(x)
    if y.numel() == 0:
        return y

    def grid(meta):
        return (triton.cdiv(x.numel(), meta["BLOCK"]),)

    silu_kernel[grid](x_ptr=x, y_ptr=y, count=x.numel(), BLOCK=4096, num_warps=8)
    return y
