# kgtui: op=aten::neg expect=pass finding=behaviour ids=D3,D5
"""Torch flips the sign bits as integers, which look like addresses; the kernel turns them into numbers again."""

import torch
import triton
import triton.language as tl


@triton.jit
def to_numbers(bits_ptr, y_ptr, count, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    bits = tl.load(bits_ptr + i, mask=i < count, other=0)
    tl.store(y_ptr + i, bits.to(y_ptr.dtype.element_ty, bitcast=True), mask=i < count)


@triton.jit
def neg_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, -tl.load(x_ptr + i, mask=i < count), mask=i < count)


def neg(self):
    x = self.contiguous()
    y = torch.empty_like(x)
    if y.numel() == 0:
        return y
    grid = (triton.cdiv(x.numel(), 1024),)
    if x.dtype == torch.float32:
        bits = x.view(torch.int32) + -(1 << 31)
        to_numbers[grid](bits, y, y.numel(), BLOCK=1024)
    else:
        x, out = (torch.view_as_real(one) if one.is_complex() else one for one in (x, y))
        neg_kernel[(triton.cdiv(out.numel(), 1024),)](x, out, out.numel(), BLOCK=1024)
    return y
