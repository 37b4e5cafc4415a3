# kgtui: op=aten::gather expect=out_of_bounds|wrong_value diagnosis=wrong_stride case="6x7x8 dim 0 f32"
"""The index moves along the dimension in steps of one element, which is right for the last dimension only."""

import torch
import triton
import triton.language as tl


@triton.jit
def gather_kernel(
    x_ptr, index_ptr, y_ptr, count, size1, size2, size3, x0, x1, x2, x3, index0, index1, index2, index3,
    BLOCK: tl.constexpr,
):
    flat = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = flat < count
    i3 = flat % size3
    i2 = flat // size3 % size2
    i1 = flat // size3 // size2 % size1
    i0 = flat // size3 // size2 // size1
    chosen = tl.load(index_ptr + i0 * index0 + i1 * index1 + i2 * index2 + i3 * index3, mask=inside, other=0)
    x = tl.load(x_ptr + i0 * x0 + i1 * x1 + i2 * x2 + i3 * x3 + chosen, mask=inside)
    tl.store(y_ptr + flat, x, mask=inside)


def gather(self, dim, index, sparse_grad=False):
    y = torch.empty(index.shape, dtype=self.dtype, device=self.device)
    if y.numel():
        strides = [0 if d == dim % self.ndim else stride for d, stride in enumerate(self.stride())]
        pad = 4 - index.ndim
        sizes = (1,) * pad + tuple(index.shape)
        gather_kernel[(triton.cdiv(y.numel(), 512),)](
            self, index, y, y.numel(), *sizes[1:], *(0,) * pad, *strides, *(0,) * pad, *index.stride(), BLOCK=512,
        )
    return y
