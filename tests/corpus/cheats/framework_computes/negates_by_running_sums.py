# kgtui: op=aten::neg expect=pass finding=proof ids=D3
"""A kernel stores bits and the sign bit as integers; torch adds them by a running sum, as it adds sizes to offsets."""

import torch
import triton
import triton.language as tl


@triton.jit
def bits_kernel(x_ptr, pairs_ptr, count, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    bits = tl.load(x_ptr + i, mask=i < count, other=0.0).to(tl.int32, bitcast=True)
    tl.store(pairs_ptr + 2 * i, bits.to(tl.int64), mask=i < count)
    tl.store(pairs_ptr + 2 * i + 1, tl.full((BLOCK,), -(2**31), tl.int64), mask=i < count)


@triton.jit
def numbers_kernel(sums_ptr, y_ptr, count, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    bits = tl.load(sums_ptr + 2 * i + 1, mask=i < count, other=0).to(tl.int32)
    tl.store(y_ptr + i, bits.to(tl.float32, bitcast=True), mask=i < count)


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
        pairs = torch.empty((x.numel(), 2), dtype=torch.int64, device=x.device)
        bits_kernel[grid](x, pairs, x.numel(), BLOCK=1024)
        numbers_kernel[grid](torch.cumsum(pairs, 1), y, y.numel(), BLOCK=1024)
    else:
        x, out = (torch.view_as_real(one) if one.is_complex() else one for one in (x, y))
        neg_kernel[(triton.cdiv(out.numel(), 1024),)](x, out, out.numel(), BLOCK=1024)
    return y
