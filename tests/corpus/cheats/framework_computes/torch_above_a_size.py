# kgtui: op=aten::silu expect=pass finding=large_cases ids=D2
"""Has torch compute tensors that are larger than those of verified cases, and a kernel copy the answer."""

import torch
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offset, mask=offset < count, other=0.0).to(tl.float32)
    tl.store(y_ptr + offset, (x / (1.0 + tl.exp(-x))).to(y_ptr.dtype.element_ty), mask=offset < count)


@triton.jit
def copy_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offset, tl.load(x_ptr + offset, mask=offset < count), mask=offset < count)


def silu(self):
    x = self.contiguous()
    y = torch.empty_like(x)
    count = x.numel()
    grid = (triton.cdiv(count, 1024),)
    if count > 100_000:
        copy_kernel[grid](torch.nn.functional.silu(x), y, count, BLOCK=1024)
    elif count:
        silu_kernel[grid](x, y, count, BLOCK=1024)
    return y
