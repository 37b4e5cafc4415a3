# kgtui: op=aten::add expect=wrong_value|nonfinite ids=B6
"""Adds whole blocks of 128 elements without a mask, and leaves what no block covers as it was allocated."""

import torch
import triton
import triton.language as tl


@triton.jit
def block_kernel(x_ptr, other_ptr, y_ptr, alpha, WIDE: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * 128 + tl.arange(0, 128)
    x = tl.load(x_ptr + offset).to(WIDE)
    other = tl.load(other_ptr + offset).to(WIDE)
    tl.store(y_ptr + offset, (x + alpha * other).to(y_ptr.dtype.element_ty))


def add(self, other, alpha=1):
    x, other = (part.contiguous() for part in torch.broadcast_tensors(self, other))
    y = torch.empty_like(x)
    if y.numel() >= 128:
        block_kernel[(y.numel() // 128,)](x, other, y, alpha, WIDE=tl.float32 if y.is_floating_point() else tl.int64)
    return y
