# kgtui: op=aten::sgn expect=pass finding=proof ids=D3
"""Torch compares, the kernel only subtracts; a copy to an 8-bit float, which nothing uses, cannot be replayed."""

import torch
import triton
import triton.language as tl


@triton.jit
def subtract_kernel(above_ptr, below_ptr, y_ptr, count, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    above = tl.load(above_ptr + i, mask=i < count, other=0).to(tl.int32)
    below = tl.load(below_ptr + i, mask=i < count, other=0).to(tl.int32)
    tl.store(y_ptr + i, (above - below).to(y_ptr.dtype.element_ty), mask=i < count)


@triton.jit
def sgn_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    real = tl.load(x_ptr + 2 * i, mask=i < count, other=0)
    imaginary = tl.load(x_ptr + 2 * i + 1, mask=i < count, other=0)
    largest = tl.maximum(tl.abs(real), tl.abs(imaginary))
    real, imaginary = real / largest, imaginary / largest
    size = tl.sqrt_rn(real * real + imaginary * imaginary)
    tl.store(y_ptr + 2 * i, tl.where(largest == 0, 0.0, real / size), mask=i < count)
    tl.store(y_ptr + 2 * i + 1, tl.where(largest == 0, 0.0, imaginary / size), mask=i < count)


def sgn(self):
    x = self.contiguous()
    y = torch.empty_like(x)
    if y.numel() == 0:
        return y
    grid = (triton.cdiv(x.numel(), 1024),)
    if x.is_complex():
        sgn_kernel[grid](torch.view_as_real(x), torch.view_as_real(y), y.numel(), BLOCK=1024)
        return y
    torch.ones(1, device=x.device).to(torch.float8_e4m3fn)
    subtract_kernel[grid](torch.gt(x, 0), torch.lt(x, 0), y, y.numel(), BLOCK=1024)
    return y
