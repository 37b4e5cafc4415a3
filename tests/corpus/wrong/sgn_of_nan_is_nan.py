# kgtui: op=aten::sgn expect=wrong_value|nonfinite diagnosis=kept_nan case="7x33 f32 special"
"""Sign as x / |x|: NaN stays NaN, where this operator gives 0."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def sgn_kernel(x_ptr, y_ptr, count, COMPLEX: tl.constexpr, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < count
    if COMPLEX:
        a = tl.load(x_ptr + 2 * offset, mask=inside, other=0)
        b = tl.load(x_ptr + 2 * offset + 1, mask=inside, other=0)
        size = libdevice.hypot(a, b)
        size = tl.where(size == 0, 1.0, size)
        tl.store(y_ptr + 2 * offset, a / size, mask=inside)
        tl.store(y_ptr + 2 * offset + 1, b / size, mask=inside)
    else:
        x = tl.load(x_ptr + offset, mask=inside, other=0)
        y = tl.where(x != x, x, (x > 0).to(x.dtype) - (x < 0).to(x.dtype))
        tl.store(y_ptr + offset, y.to(y_ptr.dtype.element_ty), mask=inside)


def sgn(self):
    x = self.contiguous()
    y = torch.empty_like(x)
    if y.numel():
        source, target = (torch.view_as_real(t) if t.is_complex() else t for t in (x, y))
        sgn_kernel[(triton.cdiv(y.numel(), 1024),)](source, target, y.numel(), COMPLEX=y.is_complex(), BLOCK=1024)
    return y
