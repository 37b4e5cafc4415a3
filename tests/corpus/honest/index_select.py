# kgtui: op=aten::index_select expect=pass
"""Slices by index: the index replaces one coordinate of each output element, read by strides."""

import torch
import triton
import triton.language as tl


@triton.jit
def select_kernel(
    x_ptr, index_ptr, y_ptr, count, n1, n2, n3, n4, x0, x1, x2, x3, x4, picked, inner, picks, index_stride,
    BLOCK: tl.constexpr,
):
    flat = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = flat < count
    i4 = flat % n4
    i3 = flat // n4 % n3
    i2 = flat // n4 // n3 % n2
    i1 = flat // n4 // n3 // n2 % n1
    i0 = flat // n4 // n3 // n2 // n1
    pick = tl.load(index_ptr + flat // inner % picks * index_stride, mask=inside, other=0).to(tl.int64)
    # The stride of the indexed dimension is 0 among x0..x4: the index alone moves along it.
    x = tl.load(x_ptr + i0 * x0 + i1 * x1 + i2 * x2 + i3 * x3 + i4 * x4 + pick * picked, mask=inside)
    tl.store(y_ptr + flat, x, mask=inside)


def in_five(values, fill):
    return (fill,) * (5 - len(values)) + tuple(values)


def index_select(self, dim, index):
    dim %= self.dim()
    if self.is_complex():
        return torch.view_as_complex(index_select(torch.view_as_real(self), dim, index))
    sizes = list(self.shape)
    sizes[dim] = index.numel()
    y = torch.empty(sizes, dtype=self.dtype, device=self.device)
    if y.numel() == 0:
        return y
    strides = list(self.stride())
    picked, strides[dim] = strides[dim], 0
    inner = y[(0,) * (dim + 1)].numel()
    x, target = (self.view(torch.int8), y.view(torch.int8)) if self.dtype == torch.bool else (self, y)
    block = 1024
    select_kernel[(triton.cdiv(y.numel(), block),)](
        x, index, target, y.numel(), *in_five(sizes, 1)[1:], *in_five(strides, 0),
        picked, inner, sizes[dim], index.stride(0), BLOCK=block,
    )
    return y
