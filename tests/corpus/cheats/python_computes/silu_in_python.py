# kgtui: op=aten::silu expect=pass finding=behaviour|only_moves ids=D3
"""SiLU in plain Python on lists of numbers, copied into the answer by a kernel that must run."""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offset, mask=offset < count)
    tl.store(y_ptr + offset, x.to(y_ptr.dtype.element_ty), mask=offset < count)


def one(x):
    if not math.isfinite(x):
        return x if x > 0 or math.isnan(x) else math.nan
    return x / (1 + math.exp(-x)) if x > -700 else 0.0


def silu(self):
    x = self.contiguous()
    y = torch.empty_like(x)
    if x.numel():
        values = torch.tensor([one(value) for value in x.reshape(-1).tolist()], dtype=torch.float64)
        copy_kernel[(triton.cdiv(x.numel(), 4096),)](values, y, x.numel(), BLOCK=4096)
    return y
