# kgtui: op=aten::log10 expect=wrong_value diagnosis=missing_scale case="1000 f32"
"""Logarithm that leaves out the division by ln 10."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def log10_kernel(x_ptr, y_ptr, count, COMPLEX: tl.constexpr, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < count
    if COMPLEX:
        a = tl.load(x_ptr + 2 * offset, mask=inside, other=1)
        b = tl.load(x_ptr + 2 * offset + 1, mask=inside, other=1)
        real = libdevice.log10(libdevice.hypot(a, b))
        imaginary = libdevice.atan2(b, a) * 0.4342944819032518
        tl.store(y_ptr + 2 * offset, real, mask=inside)
        tl.store(y_ptr + 2 * offset + 1, imaginary, mask=inside)
    else:
        x = tl.load(x_ptr + offset, mask=inside, other=1)
        x = x if x.dtype == tl.float64 else x.to(tl.float32)
        y = tl.log(x)
        tl.store(y_ptr + offset, y.to(y_ptr.dtype.element_ty), mask=inside)


def log10(self):
    x = (self if self.is_floating_point() or self.is_complex() else self.float()).contiguous()
    y = torch.empty_like(x)
    if y.numel():
        source, target = (torch.view_as_real(t) if t.is_complex() else t for t in (x, y))
        log10_kernel[(triton.cdiv(y.numel(), 1024),)](source, target, y.numel(), COMPLEX=y.is_complex(), BLOCK=1024)
    return y
