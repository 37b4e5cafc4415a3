# kgtui: op=aten::exponential_ expect=pass
"""Exponential draws in place: -log(u) / lambd of a uniform number that is never 0."""

import torch
import triton
import triton.language as tl


@triton.jit
def exponential_kernel(
    x_ptr, seed, mean, count, n1, n2, n3, n4, x0, x1, x2, x3, x4, BLOCK: tl.constexpr,
):
    flat = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = flat < count
    i4 = flat % n4
    i3 = flat // n4 % n3
    i2 = flat // n4 // n3 % n2
    i1 = flat // n4 // n3 // n2 % n1
    i0 = flat // n4 // n3 // n2 // n1
    draw = -tl.log(1.0 - tl.rand(seed, flat)) * mean
    tl.store(x_ptr + i0 * x0 + i1 * x1 + i2 * x2 + i3 * x3 + i4 * x4, draw.to(x_ptr.dtype.element_ty), mask=inside)


def seed():
    """A seed of its own for every call, from torch's generator on the host."""
    return int(torch.randint(2**31 - 1, ()))


def in_five(values, fill):
    return (fill,) * (5 - len(values)) + tuple(values)


def exponential_(self, lambd=1.0):
    if self.numel():
        block = 1024
        exponential_kernel[(triton.cdiv(self.numel(), block),)](
            self, seed(), 1 / lambd, self.numel(), *in_five(self.shape, 1)[1:], *in_five(self.stride(), 0), BLOCK=block,
        )
    return self
