# kgtui: op=aten::clone expect=pass
"""A copy over at most five strided dimensions: every program computes the coordinates of its elements."""

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


def as_bits(x):
    """The same memory as integers of the same size; complex128 as pairs of int64, with one dimension more."""
    if x.dtype == torch.complex128:
        return torch.view_as_real(x).view(torch.int64)
    return x.view({1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[x.element_size()])


def from_bits(bits, dtype):
    return torch.view_as_complex(bits.view(torch.float64)) if dtype == torch.complex128 else bits.view(dtype)


def in_five(values, fill):
    return (fill,) * (5 - len(values)) + tuple(values)

def clone(self):
    view = self
    source = as_bits(view)
    target = torch.empty(source.shape, dtype=source.dtype, device=source.device)
    if target.numel():
        block = 1024
        move_kernel[(triton.cdiv(target.numel(), block),)](
            source, target, target.numel(), *in_five(source.shape, 1)[1:], *in_five(source.stride(), 0), BLOCK=block,
        )
    return from_bits(target, view.dtype)
