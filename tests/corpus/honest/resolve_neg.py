# kgtui: op=aten::resolve_neg expect=pass
"""A lazy negation written out: the stored numbers are read by their strides and negated."""

import torch
import triton
import triton.language as tl


@triton.jit
def negate_kernel(x_ptr, y_ptr, count, n1, n2, n3, n4, x0, x1, x2, x3, x4, WORDS: tl.constexpr, BLOCK: tl.constexpr):
    flat = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = flat < count
    i4 = flat % n4
    i3 = flat // n4 % n3
    i2 = flat // n4 // n3 % n2
    i1 = flat // n4 // n3 // n2 % n1
    i0 = flat // n4 // n3 // n2 // n1
    at = x_ptr + i0 * x0 + i1 * x1 + i2 * x2 + i3 * x3 + i4 * x4
    for word in tl.static_range(WORDS):
        tl.store(y_ptr + flat * WORDS + word, -tl.load(at + word, mask=inside), mask=inside)


def resolve_neg(self):
    if not self.is_neg():
        return self
    stored = torch._neg_view(self)  # the negation of a lazy negation is what is stored
    y = torch.empty(self.shape, dtype=self.dtype, device=self.device)
    if y.numel():
        source, target = numbers(stored), numbers(y)
        negate_kernel[(triton.cdiv(y.numel(), 1024),)](
            source, target, y.numel(), *in_five(y.shape, 1)[1:], *in_five(source.stride()[: y.dim()], 0),
            WORDS=2 if y.is_complex() else 1, BLOCK=1024,
        )
    return y


def numbers(x):
    return torch.view_as_real(x) if x.is_complex() else x


def in_five(values, fill):
    return (fill,) * (5 - len(values)) + tuple(values)
