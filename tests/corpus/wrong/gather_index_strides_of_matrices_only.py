# kgtui: op=aten::gather expect=wrong_value diagnosis=wrong_stride case="5x7x9 dim 1 f32 index transposed"
"""Asks for the strides of an index that is a matrix and takes what has more dimensions for dense."""

import torch
import triton
import triton.language as tl


@triton.jit
def gather_kernel(
    x_ptr, index_ptr, y_ptr, count, size1, size2, size3,
    x0, x1, x2, x3, index0, index1, index2, index3, x_dim,
    BLOCK: tl.constexpr,
):
    flat = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = flat < count
    i3 = flat % size3
    i2 = flat // size3 % size2
    i1 = flat // size3 // size2 % size1
    i0 = flat // size3 // size2 // size1
    chosen = tl.load(index_ptr + i0 * index0 + i1 * index1 + i2 * index2 + i3 * index3, mask=inside, other=0)
    # The stride of the gathered dimension is 0 among x0..x3: the index alone moves along it.
    x = tl.load(x_ptr + i0 * x0 + i1 * x1 + i2 * x2 + i3 * x3 + chosen * x_dim, mask=inside)
    tl.store(y_ptr + flat, x, mask=inside)


def gather(self, dim, index, sparse_grad=False):
    y = torch.empty(index.shape, dtype=self.dtype, device=self.device)
    if y.numel() == 0:
        return y
    assert index.ndim <= 4, f"gather: at most 4 dimensions, got {index.ndim}"
    ndim = max(index.ndim, 1)
    strides = list(self.stride()) or [1]
    x_dim = strides[dim % ndim]
    strides[dim % ndim] = 0
    pad = 4 - index.ndim
    sizes = (1,) * pad + tuple(index.shape)
    x_strides = (0,) * (4 - len(strides)) + tuple(strides)
    index_strides = (0,) * pad + (index if index.ndim < 3 else torch.empty(index.shape)).stride()
    block = 2048
    gather_kernel[(triton.cdiv(y.numel(), block),)](
        self, index, y, y.numel(), *sizes[1:], *x_strides, *index_strides, x_dim, BLOCK=block, num_warps=8,
    )
    return y
