# kgtui: op=aten::add expect=wrong_value diagnosis=wrong_stride case="5x7x9 f32 other transposed"
"""Asks for the strides of a matrix that is added, and takes what has more dimensions and no broadcasting for dense."""

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(
    x_ptr, other_ptr, y_ptr, alpha, count, size1, size2, size3,
    x0, x1, x2, x3, other0, other1, other2, other3,
    SCALED: tl.constexpr, ALPHA_IN_MEMORY: tl.constexpr, BLOCK: tl.constexpr,
):
    flat = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = flat < count
    i3 = flat % size3
    i2 = flat // size3 % size2
    i1 = flat // size3 // size2 % size1
    i0 = flat // size3 // size2 // size1
    x = tl.load(x_ptr + i0 * x0 + i1 * x1 + i2 * x2 + i3 * x3, mask=inside, other=0)
    other = tl.load(other_ptr + i0 * other0 + i1 * other1 + i2 * other2 + i3 * other3, mask=inside, other=0)
    kind = y_ptr.dtype.element_ty
    wide = tl.float32 if kind == tl.float16 or kind == tl.bfloat16 else kind
    x = x.to(wide)
    other = other.to(wide)
    if SCALED:
        other = other * (tl.load(alpha) if ALPHA_IN_MEMORY else alpha)
    tl.store(y_ptr + flat, (x + other).to(kind), mask=inside)


def add(self, other, alpha=1):
    if not isinstance(other, torch.Tensor):
        other = torch.tensor(other, dtype=torch.result_type(self, other), device=self.device)
    dtype = torch.result_type(self, other)
    plain = other
    x, other = torch.broadcast_tensors(self, other)
    y = torch.empty(x.shape, dtype=dtype, device=x.device)
    if other.ndim > 2 and self.shape == plain.shape:
        other = other.as_strided(other.shape, y.stride())
    sizes, x_strides, other_strides = merged(x.shape, x.stride(), other.stride())
    if y.numel() == 0:
        return y
    while len(sizes) < 4:
        sizes, x_strides, other_strides = (1, *sizes), (0, *x_strides), (0, *other_strides)
    assert len(sizes) == 4, f"add: at most 4 dimensions that cannot be merged, got {len(sizes)}"
    # A float argument of a launch is a float32, which would round the alpha of a float64 sum.
    in_memory = dtype == torch.float64 and alpha != 1
    scale = torch.tensor(alpha, dtype=dtype, device=x.device) if in_memory else alpha
    block = 4096
    add_kernel[(triton.cdiv(y.numel(), block),)](
        x, other, y, scale, y.numel(), *sizes[1:], *x_strides, *other_strides,
        SCALED=alpha != 1, ALPHA_IN_MEMORY=in_memory, BLOCK=block, num_warps=8,
    )
    return y


def merged(sizes, x_strides, other_strides):
    """Fewer, longer dimensions that address the same elements."""
    dims = []
    for size, x_stride, other_stride in zip(sizes, x_strides, other_strides):
        if size == 1:
            continue
        if dims and dims[-1][1] == size * x_stride and dims[-1][2] == size * other_stride:
            dims[-1] = (dims[-1][0] * size, x_stride, other_stride)
        else:
            dims.append((size, x_stride, other_stride))
    return tuple(d[0] for d in dims), tuple(d[1] for d in dims), tuple(d[2] for d in dims)
