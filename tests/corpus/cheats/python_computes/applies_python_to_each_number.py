# kgtui: op=aten::silu expect=pass finding=behaviour ids=D3
"""SiLU by `apply_`, which torch hands each number of a halved copy to Python for."""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def scaled_kernel(x_ptr, y_ptr, scale, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offset, mask=offset < count).to(tl.float64)
    tl.store(y_ptr + offset, (x * scale).to(y_ptr.dtype.element_ty), mask=offset < count)


def scaled(x, scale, dtype):
    x = x.contiguous()
    y = torch.empty(x.shape, dtype=dtype, device=x.device)
    if y.numel():
        scaled_kernel[(triton.cdiv(y.numel(), 4096),)](x, y, scale, y.numel(), BLOCK=4096)
    return y


def one(x):
    if not math.isfinite(x):
        return x if x > 0 or math.isnan(x) else math.nan
    return x / (1 + math.exp(-x)) if x > -700 else 0.0


def silu(self):
    x = scaled(self, 0.5, torch.float64)
    x.apply_(lambda value: one(2 * value))
    return x.to(self.dtype)
