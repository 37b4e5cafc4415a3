# kgtui: op=aten::prelu expect=pass
"""Parametric rectifier; the channel of an element comes from its flat offset."""

import torch
import triton
import triton.language as tl


@triton.jit
def prelu_kernel(x_ptr, weight_ptr, y_ptr, count, inner, channels, weight_stride, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < count
    x = tl.load(x_ptr + offset, mask=inside, other=0).to(tl.float32)
    channel = offset // inner % channels
    weight = tl.load(weight_ptr + channel * weight_stride, mask=inside, other=0).to(tl.float32)
    tl.store(y_ptr + offset, tl.where(x > 0, x, weight * x).to(y_ptr.dtype.element_ty), mask=inside)


def prelu(self, weight):
    x = self.contiguous()
    y = torch.empty_like(x)
    if y.numel() == 0:
        return y
    channels = weight.numel()
    inner = x[0, 0].numel() if channels > 1 else 1
    prelu_kernel[(triton.cdiv(y.numel(), 1024),)](
        x, weight, y, y.numel(), inner, channels, weight.stride(0), BLOCK=1024
    )
    return y
