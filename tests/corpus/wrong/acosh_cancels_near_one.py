# kgtui: op=aten::acosh expect=wrong_value diagnosis=precision case="129 f32 near one"
"""The sum in the logarithm is rounded near one, so that small results have few correct bits."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def root(a, b):
    """The principal square root of a + bi: the part without cancellation first, the other from it."""
    half = tl.sqrt((libdevice.hypot(a, b) + tl.abs(a)) * 0.5)
    other = tl.where(half == 0, half, tl.abs(b) / (2 * half))
    real, imaginary = tl.where(a >= 0, half, other), tl.where(a >= 0, other, half)
    return real, tl.where(b < 0, -imaginary, imaginary)


@triton.jit
def acosh_kernel(x_ptr, y_ptr, count, COMPLEX: tl.constexpr, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < count
    if COMPLEX:
        a = tl.load(x_ptr + 2 * offset, mask=inside, other=1)
        b = tl.load(x_ptr + 2 * offset + 1, mask=inside, other=1)
        p, q = root(a - 1, b)
        r, s = root(a + 1, b)
        real = libdevice.asinh(p * r + q * s)
        imaginary = 2 * libdevice.atan2(q, r)
        tl.store(y_ptr + 2 * offset, real, mask=inside)
        tl.store(y_ptr + 2 * offset + 1, imaginary, mask=inside)
    else:
        x = tl.load(x_ptr + offset, mask=inside, other=1)
        x = x if x.dtype == tl.float64 else x.to(tl.float32)
        y = 2 * tl.log(tl.sqrt(x * 0.5 + 0.5) + tl.sqrt(x * 0.5 - 0.5))
        tl.store(y_ptr + offset, y.to(y_ptr.dtype.element_ty), mask=inside)


def acosh(self):
    x = (self if self.is_floating_point() or self.is_complex() else self.float()).contiguous()
    y = torch.empty_like(x)
    if y.numel():
        source, target = (torch.view_as_real(t) if t.is_complex() else t for t in (x, y))
        acosh_kernel[(triton.cdiv(y.numel(), 1024),)](source, target, y.numel(), COMPLEX=y.is_complex(), BLOCK=1024)
    return y
