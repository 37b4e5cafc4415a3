# kgtui: op=aten::silu expect=pass finding=large_cases ids=A11
"""Computes at most 2^18 elements: more than any verified case has, fewer than the cases for timing have."""

import torch
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offset, mask=offset < count, other=0.0).to(tl.float32)
    tl.store(y_ptr + offset, (x / (1.0 + tl.exp(-x))).to(y_ptr.dtype.element_ty), mask=offset < count)


def silu(self):
    x = self.contiguous()
    y = torch.empty_like(x)
    if x.numel():
        silu_kernel[(min(triton.cdiv(x.numel(), 1024), 256),)](x, y, x.numel(), BLOCK=1024)
    return y
