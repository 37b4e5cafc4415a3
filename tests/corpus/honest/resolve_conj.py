# kgtui: op=aten::resolve_conj expect=pass
"""A lazy conjugate written out: the stored numbers are read by their strides, the imaginary parts negated."""

import torch
import triton
import triton.language as tl


@triton.jit
def conjugate_kernel(x_ptr, y_ptr, count, n1, n2, n3, n4, x0, x1, x2, x3, x4, BLOCK: tl.constexpr):
    flat = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = flat < count
    i4 = flat % n4
    i3 = flat // n4 % n3
    i2 = flat // n4 // n3 % n2
    i1 = flat // n4 // n3 // n2 % n1
    i0 = flat // n4 // n3 // n2 // n1
    at = x_ptr + i0 * x0 + i1 * x1 + i2 * x2 + i3 * x3 + i4 * x4
    tl.store(y_ptr + 2 * flat, tl.load(at, mask=inside), mask=inside)
    tl.store(y_ptr + 2 * flat + 1, -tl.load(at + 1, mask=inside), mask=inside)


def resolve_conj(self):
    if not self.is_conj():
        return self
    stored = torch.view_as_real(self.conj())  # the conjugate of a lazy conjugate is what is stored
    y = torch.empty(self.shape, dtype=self.dtype, device=self.device)
    if y.numel():
        conjugate_kernel[(triton.cdiv(y.numel(), 1024),)](
            stored, torch.view_as_real(y), y.numel(), *in_five(y.shape, 1)[1:], *in_five(stored.stride()[:-1], 0),
            BLOCK=1024,
        )
    return y


def in_five(values, fill):
    return (fill,) * (5 - len(values)) + tuple(values)
