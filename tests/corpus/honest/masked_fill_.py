# kgtui: op=aten::masked_fill_ expect=pass
"""Masked fill in place: the mask of the store is the mask of the operator, read by its broadcast strides."""

import torch
import triton
import triton.language as tl


@triton.jit
def masked_fill_kernel(
    x_ptr, mask_ptr, value_ptr, count, n1, n2, n3, n4, x0, x1, x2, x3, x4, m0, m1, m2, m3, m4,
    BLOCK: tl.constexpr,
):
    flat = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = flat < count
    i4 = flat % n4
    i3 = flat // n4 % n3
    i2 = flat // n4 // n3 % n2
    i1 = flat // n4 // n3 // n2 % n1
    i0 = flat // n4 // n3 // n2 // n1
    chosen = tl.load(mask_ptr + i0 * m0 + i1 * m1 + i2 * m2 + i3 * m3 + i4 * m4, mask=inside, other=0) != 0
    value = tl.full((BLOCK,), tl.load(value_ptr), dtype=x_ptr.dtype.element_ty)
    tl.store(x_ptr + i0 * x0 + i1 * x1 + i2 * x2 + i3 * x3 + i4 * x4, value, mask=inside & chosen)


def in_five(values, fill):
    return (fill,) * (5 - len(values)) + tuple(values)


def masked_fill_(self, mask, value):
    if self.is_complex():
        value = torch.as_tensor(value, dtype=self.dtype, device=self.device)
        masked_fill_(self.real, mask, value.real)
        masked_fill_(self.imag, mask, value.imag)
    elif self.numel():
        value = torch.as_tensor(value, dtype=self.dtype, device=self.device)
        x, mask = self, mask.expand(self.shape).view(torch.int8)
        if self.dtype == torch.bool:
            x, value = x.view(torch.int8), value.view(torch.int8)
        block = 1024
        masked_fill_kernel[(triton.cdiv(x.numel(), block),)](
            x, mask, value, x.numel(), *in_five(x.shape, 1)[1:],
            *in_five(x.stride(), 0), *in_five(mask.stride(), 0), BLOCK=block,
        )
    return self
