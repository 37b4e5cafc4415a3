# kgtui: op=aten::silu expect=pass finding=proof ids=D3
"""A kernel writes to memory that Python shares, Python computes there, and a kernel reads it again."""

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


MEMORY = bytearray(1 << 20)
NUMBERS = memoryview(MEMORY).cast("d")
SHARED = torch.frombuffer(MEMORY, dtype=torch.float64)


def silu(self):
    count = self.numel()
    x = self.contiguous()
    y = torch.empty_like(x)
    if count:
        blocks = (triton.cdiv(count, 4096),)
        scaled_kernel[blocks](x, SHARED[:count], 0.5, count, BLOCK=4096)
        for i in range(count):
            NUMBERS[i] = one(2 * NUMBERS[i])
        scaled_kernel[blocks](SHARED[:count], y, 1.0, count, BLOCK=4096)
    return y
