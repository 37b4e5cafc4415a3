# kgtui: op=aten::cos expect=wrong_value diagnosis=none case="1000 f32"
"""Cosine whose argument is taken for degrees."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def cos_kernel(x_ptr, y_ptr, count, COMPLEX: tl.constexpr, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < count
    if COMPLEX:
        a = tl.load(x_ptr + 2 * offset, mask=inside, other=1)
        b = tl.load(x_ptr + 2 * offset + 1, mask=inside, other=1)
        real = tl.cos(a) * libdevice.cosh(b)
        imaginary = -tl.sin(a) * libdevice.sinh(b)
        tl.store(y_ptr + 2 * offset, real, mask=inside)
        tl.store(y_ptr + 2 * offset + 1, imaginary, mask=inside)
    else:
        x = tl.load(x_ptr + offset, mask=inside, other=1)
        x = x if x.dtype == tl.float64 else x.to(tl.float32)
        y = tl.cos(x * 0.017453292519943295)
        tl.store(y_ptr + offset, y.to(y_ptr.dtype.element_ty), mask=inside)


def cos(self):
    x = (self if self.is_floating_point() or self.is_complex() else self.float()).contiguous()
    y = torch.empty_like(x)
    if y.numel():
        source, target = (torch.view_as_real(t) if t.is_complex() else t for t in (x, y))
        cos_kernel[(triton.cdiv(y.numel(), 1024),)](source, target, y.numel(), COMPLEX=y.is_complex(), BLOCK=1024)
    return y
