# kgtui: op=aten::div_ expect=pass
"""Quotient in place over at most five strided dimensions, computed in the dtype of promotion."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def quotient(x, other, MODE: tl.constexpr):
    """x / other, cut ("trunc") or rounded down ("floor"); integers only with a mode, where // drops the fraction."""
    if not x.dtype.is_floating():
        y = x // other
        if MODE == "floor":
            rest = x - y * other
            y -= ((rest != 0) & ((rest < 0) != (other < 0))).to(y.dtype)
    elif MODE == "trunc":
        y = x / other if x.dtype == tl.float64 else tl.div_rn(x, other)
        y = tl.where(y < 0, tl.ceil(y), tl.floor(y))
    elif MODE == "floor":
        rest = libdevice.fmod(x, other)
        y = (x - rest) / other
        y = libdevice.rint(tl.where((rest != 0) & ((rest < 0) != (other < 0)), y - 1, y))
        y = tl.where(other == 0, x / other, y)
    else:
        y = x / other
    return y


@triton.jit
def div_kernel(
    x_ptr, other_ptr, count, n1, n2, n3, n4, x0, x1, x2, x3, x4, o0, o1, o2, o3, o4,
    MODE: tl.constexpr, COMPLEX: tl.constexpr, WIDE: tl.constexpr, BLOCK: tl.constexpr,
):
    flat = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = flat < count
    i4 = flat % n4
    i3 = flat // n4 % n3
    i2 = flat // n4 // n3 % n2
    i1 = flat // n4 // n3 // n2 % n1
    i0 = flat // n4 // n3 // n2 // n1
    x_at = x_ptr + i0 * x0 + i1 * x1 + i2 * x2 + i3 * x3 + i4 * x4
    other_at = other_ptr + i0 * o0 + i1 * o1 + i2 * o2 + i3 * o3 + i4 * o4
    x = tl.load(x_at, mask=inside).to(WIDE)
    other = tl.load(other_at, mask=inside, other=1).to(WIDE)
    if COMPLEX:  # the imaginary part is behind the real one
        b = tl.load(x_at + 1, mask=inside)
        d = tl.load(other_at + 1, mask=inside, other=0)
        size = other * other + d * d
        tl.store(x_at, (x * other + b * d) / size, mask=inside)
        tl.store(x_at + 1, (b * other - x * d) / size, mask=inside)
    else:
        tl.store(x_at, quotient(x, other, MODE).to(x_ptr.dtype.element_ty), mask=inside)


def div_(self, other, rounding_mode=None):
    kind = torch.result_type(self, other)
    wide = {torch.float16: torch.float32, torch.bfloat16: torch.float32}.get(kind, kind)
    other = torch.as_tensor(other, device=self.device).to(kind).expand(self.shape)
    (x, x_strides), (other, other_strides) = as_real(self), as_real(other)
    if self.numel():
        div_kernel[(triton.cdiv(self.numel(), 1024),)](
            x, other, self.numel(), *in_five(self.shape, 1)[1:], *in_five(x_strides, 0), *in_five(other_strides, 0),
            MODE=rounding_mode or "none", COMPLEX=kind.is_complex, BLOCK=1024,
            WIDE=getattr(tl, str(wide.to_real()).removeprefix("torch.")),
        )
    return self


def as_real(x):
    """A complex tensor as pairs of numbers, and the strides of its elements in those numbers."""
    pairs = torch.view_as_real(x) if x.is_complex() else x
    return pairs, pairs.stride()[: x.dim()]


def in_five(values, fill):
    return (fill,) * (5 - len(values)) + tuple(values)
