# kgtui: op=aten::add expect=pass
"""Addition of contiguous copies; the grid and block for a number of elements come from a functools.lru_cache."""

import functools

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, other_ptr, y_ptr, count, alpha, WIDE: tl.constexpr, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < count
    x = tl.load(x_ptr + offset, mask=inside, other=0).to(WIDE)
    other = tl.load(other_ptr + offset, mask=inside, other=0).to(WIDE)
    tl.store(y_ptr + offset, (x + other * alpha).to(y_ptr.dtype.element_ty), mask=inside)


@functools.lru_cache(maxsize=None)
def plan(count):
    """Grid, block and warps; a function of the size alone."""
    block = 1024 if count <= 1 << 16 else 4096
    return (triton.cdiv(count, block),), block, block // 512


@functools.cache
def wide_type(dtype):
    return getattr(tl, str(dtype).removeprefix("torch.")) if not dtype.is_floating_point else tl.float32


def add(self, other, alpha=1):
    x, other = (part.contiguous() for part in torch.broadcast_tensors(self, other))
    y = torch.empty_like(x)
    alpha = float(alpha) if y.is_floating_point() else alpha
    if y.numel():
        grid, block, warps = plan(y.numel())
        add_kernel[grid](x, other, y, y.numel(), alpha, WIDE=wide_type(y.dtype), BLOCK=block, num_warps=warps)
    return y
