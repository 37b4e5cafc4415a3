# kgtui: op=aten::zero_ expect=pass
"""Zeros in place: every program writes 0 to the places of its elements, by strides."""

import torch
import triton
import triton.language as tl


@triton.jit
def zero_kernel(x_ptr, count, n1, n2, n3, n4, x0, x1, x2, x3, x4, BLOCK: tl.constexpr):
    flat = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = flat < count
    i4 = flat % n4
    i3 = flat // n4 % n3
    i2 = flat // n4 // n3 % n2
    i1 = flat // n4 // n3 // n2 % n1
    i0 = flat // n4 // n3 // n2 // n1
    tl.store(x_ptr + i0 * x0 + i1 * x1 + i2 * x2 + i3 * x3 + i4 * x4, tl.zeros((BLOCK,), dtype=x_ptr.dtype.element_ty), mask=inside)


def in_five(values, fill):
    return (fill,) * (5 - len(values)) + tuple(values)


def zero_(self):
    if self.numel():
        parts = torch.view_as_real(self) if self.is_complex() else self
        bits = parts.view({1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[parts.element_size()])
        block = 1024
        zero_kernel[(triton.cdiv(bits.numel(), block),)](
            bits, bits.numel(), *in_five(bits.shape, 1)[1:], *in_five(bits.stride(), 0), BLOCK=block,
        )
    return self
