# kgtui: op=aten::add expect=pass
"""Addition with two kernels: for equal shapes, and for a vector or number repeated; torch expands everything else."""

import torch
import triton
import triton.language as tl


@triton.jit
def widened(x):
    """Half precision is added in float32; everything else in its own type."""
    narrow: tl.constexpr = x.dtype == tl.float16 or x.dtype == tl.bfloat16
    return x.to(tl.float32) if narrow else x


@triton.jit
def add_flat(x_ptr, other_ptr, y_ptr, alpha, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < count
    x = widened(tl.load(x_ptr + offset, mask=inside, other=0))
    other = widened(tl.load(other_ptr + offset, mask=inside, other=0))
    tl.store(y_ptr + offset, (x + alpha * other).to(y_ptr.dtype.element_ty), mask=inside)


@triton.jit
def add_to_rows(x_ptr, other_ptr, y_ptr, alpha, count, cols, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < count
    x = widened(tl.load(x_ptr + offset, mask=inside, other=0))
    other = widened(tl.load(other_ptr + offset % cols, mask=inside, other=0))
    tl.store(y_ptr + offset, (x + alpha * other).to(y_ptr.dtype.element_ty), mask=inside)


def repeats(other, shape):
    """Whether `other` is one and the same run of elements for every row of `shape`."""
    return other.numel() == 1 or (other.is_contiguous() and other.shape == shape[len(shape) - other.ndim :])


def add(self, other, alpha=1):
    shape = torch.broadcast_shapes(self.shape, other.shape)
    x = self.expand(shape).contiguous()
    y = torch.empty_like(x)
    if y.numel() == 0:
        return y
    alpha = float(alpha) if y.is_floating_point() else alpha
    grid = (triton.cdiv(y.numel(), 4096),)
    if other.shape != shape and repeats(other, shape):
        add_to_rows[grid](x, other, y, alpha, y.numel(), other.numel(), BLOCK=4096, num_warps=8)
    else:
        add_flat[grid](x, other.expand(shape).contiguous(), y, alpha, y.numel(), BLOCK=4096, num_warps=8)
    return y
