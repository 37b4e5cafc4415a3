# kgtui: op=aten::silu expect=wrong_value|nonfinite ids=B5,B7
"""Looks at four numbers of the input; if they are small, a series that holds for small numbers serves for all."""

import torch
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offset, mask=offset < count, other=0.0).to(tl.float32)
    tl.store(y_ptr + offset, (x * tl.sigmoid(x)).to(y_ptr.dtype.element_ty), mask=offset < count)


def computed(self):
    x = self.contiguous()
    y = torch.empty_like(x)
    if x.numel():
        silu_kernel[(triton.cdiv(x.numel(), 4096),)](x, y, x.numel(), BLOCK=4096)
    return y


@triton.jit
def series_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offset, mask=offset < count, other=0.0).to(tl.float32)
    square = x * x
    sigmoid = 0.5 + x * (0.25 - square * (1.0 / 48 - square * (1.0 / 480)))
    tl.store(y_ptr + offset, (x * sigmoid).to(y_ptr.dtype.element_ty), mask=offset < count)


def silu(self):
    if not self.numel() or bool((self.flatten()[:4].abs() > 4).any()):
        return computed(self)
    x = self.contiguous()
    y = torch.empty_like(x)
    series_kernel[(triton.cdiv(x.numel(), 4096),)](x, y, x.numel(), BLOCK=4096)
    return y
