# kgtui: op=aten::fill_ expect=pass
"""Fill in place by a number: the host reads a 0-d tensor and passes its value to the kernel."""

import torch
import triton
import triton.language as tl


@triton.jit
def fill_kernel(
    x_ptr, whole: "i64", value: "fp64", count, n1, n2, n3, n4, x0, x1, x2, x3, x4,
    WHOLE: tl.constexpr, BLOCK: tl.constexpr,
):
    flat = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = flat < count
    i4 = flat % n4
    i3 = flat // n4 % n3
    i2 = flat // n4 // n3 % n2
    i1 = flat // n4 // n3 // n2 % n1
    i0 = flat // n4 // n3 // n2 // n1
    filled = tl.full((BLOCK,), whole if WHOLE else value, dtype=x_ptr.dtype.element_ty)
    tl.store(x_ptr + i0 * x0 + i1 * x1 + i2 * x2 + i3 * x3 + i4 * x4, filled, mask=inside)


def in_five(values, fill):
    return (fill,) * (5 - len(values)) + tuple(values)


def fill_(self, value):
    if isinstance(value, torch.Tensor):
        value = value.item()
    if self.is_complex():
        value = complex(value)
        fill_(self.real, value.real)
        fill_(self.imag, value.imag)
    elif self.numel():
        x = self.view(torch.int8) if self.dtype == torch.bool else self
        is_whole = not self.is_floating_point()
        value = bool(value) if self.dtype == torch.bool else value
        fill_kernel[(triton.cdiv(x.numel(), 1024),)](
            x, int(value) if is_whole else 0, 0.0 if is_whole else float(value), x.numel(),
            *in_five(x.shape, 1)[1:], *in_five(x.stride(), 0), WHOLE=is_whole, BLOCK=1024,
        )
    return self
