# kgtui: op=aten::copy_ expect=out_of_bounds|wrong_value diagnosis=not_reached case="40 f32 in 9x40"
"""A copy in place that reads a broadcast source as if it had all of its elements."""

import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(
    y_ptr, x_ptr, count, n1, n2, n3, n4, y0, y1, y2, y3, y4, x0, x1, x2, x3, x4,
    FROM_PAIRS: tl.constexpr, TO_PAIRS: tl.constexpr, TO_BOOL: tl.constexpr, BLOCK: tl.constexpr,
):
    flat = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = flat < count
    i4 = flat % n4
    i3 = flat // n4 % n3
    i2 = flat // n4 // n3 % n2
    i1 = flat // n4 // n3 // n2 % n1
    i0 = flat // n4 // n3 // n2 // n1
    x_at = x_ptr + i0 * x0 + i1 * x1 + i2 * x2 + i3 * x3 + i4 * x4
    y_at = y_ptr + i0 * y0 + i1 * y1 + i2 * y2 + i3 * y3 + i4 * y4
    x = tl.load(x_at, mask=inside, other=0)
    imaginary = tl.load(x_at + 1, mask=inside, other=0) if FROM_PAIRS else tl.zeros_like(x)
    if TO_BOOL:
        tl.store(y_at, ((x != 0) | (imaginary != 0)).to(tl.int8), mask=inside)
    else:
        tl.store(y_at, x.to(y_ptr.dtype.element_ty), mask=inside)
        if TO_PAIRS:
            tl.store(y_at + 1, imaginary.to(y_ptr.dtype.element_ty), mask=inside)


def copy_(self, src, non_blocking=False):
    if self.numel():
        source, target = numbers(src.expand(self.shape)), numbers(self)
        copy_kernel[(triton.cdiv(self.numel(), 1024),)](
            target, source, self.numel(), *in_five(self.shape, 1)[1:],
            *in_five(target.stride()[: self.dim()], 0), *in_five(target.stride()[: self.dim()], 0),
            FROM_PAIRS=src.is_complex(), TO_PAIRS=self.is_complex(), TO_BOOL=self.dtype == torch.bool, BLOCK=1024,
        )
    return self


def numbers(x):
    """A complex tensor as pairs, a tensor of booleans as bytes of 0 and 1."""
    return torch.view_as_real(x) if x.is_complex() else x.view(torch.int8) if x.dtype == torch.bool else x


def in_five(values, fill):
    return (fill,) * (5 - len(values)) + tuple(values)
