# kgtui: op=aten::rot90 expect=pass
"""Rotation by strides: a quarter turn exchanges two strides and turns the sign of one of them."""

import torch
import triton
import triton.language as tl


@triton.jit
def move_kernel(
    x_ptr, y_ptr, count, n1, n2, n3, n4, x0, x1, x2, x3, x4,
    BLOCK: tl.constexpr,
):
    flat = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = flat < count
    i4 = flat % n4
    i3 = flat // n4 % n3
    i2 = flat // n4 // n3 % n2
    i1 = flat // n4 // n3 // n2 % n1
    i0 = flat // n4 // n3 // n2 // n1
    x = tl.load(x_ptr + i0 * x0 + i1 * x1 + i2 * x2 + i3 * x3 + i4 * x4, mask=inside)
    tl.store(y_ptr + flat, x, mask=inside)


def in_five(values, fill):
    return (fill,) * (5 - len(values)) + tuple(values)


def rot90(self, k=1, dims=(0, 1)):
    first, second = (dim % self.dim() for dim in dims)
    if self.is_complex():
        return torch.view_as_complex(rot90(torch.view_as_real(self), k, (first, second)))
    sizes, strides, offset = list(self.shape), list(self.stride()), 0
    for _ in range(k % 4):
        sizes[first], sizes[second] = sizes[second], sizes[first]
        # Going down the new first dimension goes back along the old second one, from its end.
        offset += (sizes[first] - 1) * strides[second]
        strides[first], strides[second] = -strides[second], strides[first]
    y = torch.empty(sizes, dtype=self.dtype, device=self.device)
    if y.numel() == 0:
        return y
    block = 1024
    start = self.as_strided((), (), self.storage_offset() + offset)
    move_kernel[(triton.cdiv(y.numel(), block),)](
        start, y, y.numel(), *in_five(sizes, 1)[1:], *in_five(strides, 0), BLOCK=block,
    )
    return y
