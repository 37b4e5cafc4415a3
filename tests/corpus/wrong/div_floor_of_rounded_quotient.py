# kgtui: op=aten::div expect=wrong_value|nonfinite diagnosis=missing_nan case="16x33 f32 floor special"
"""Floor division as the floor of the rounded quotient, which may have been rounded up to a whole number."""

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
        y = tl.floor(x / other)
    else:
        y = x / other
    return y


@triton.jit
def div_kernel(x_ptr, other_ptr, y_ptr, count, MODE: tl.constexpr, COMPLEX: tl.constexpr, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < count
    if COMPLEX:
        a = tl.load(x_ptr + 2 * offset, mask=inside)
        b = tl.load(x_ptr + 2 * offset + 1, mask=inside)
        c = tl.load(other_ptr + 2 * offset, mask=inside, other=1)
        d = tl.load(other_ptr + 2 * offset + 1, mask=inside, other=0)
        size = c * c + d * d
        tl.store(y_ptr + 2 * offset, (a * c + b * d) / size, mask=inside)
        tl.store(y_ptr + 2 * offset + 1, (b * c - a * d) / size, mask=inside)
    else:
        x = tl.load(x_ptr + offset, mask=inside)
        other = tl.load(other_ptr + offset, mask=inside, other=1)
        if x.dtype.is_floating() and x.dtype != tl.float64:
            x, other = x.to(tl.float32), other.to(tl.float32)
        tl.store(y_ptr + offset, quotient(x, other, MODE).to(y_ptr.dtype.element_ty), mask=inside)


def div(self, other, rounding_mode=None):
    kind = torch.result_type(self, other)
    if rounding_mode is None and not (kind.is_floating_point or kind.is_complex):
        kind = torch.float32
    other = torch.as_tensor(other, device=self.device).to(kind)
    x, other = (side.contiguous() for side in torch.broadcast_tensors(self.to(kind), other))
    y = torch.empty(x.shape, dtype=kind, device=x.device)
    if y.numel():
        x, other, target = (torch.view_as_real(t) if t.is_complex() else t for t in (x, other, y))
        grid = (triton.cdiv(y.numel(), 1024),)
        div_kernel[grid](
            x, other, target, y.numel(), MODE=rounding_mode or "none", COMPLEX=kind.is_complex, BLOCK=1024
        )
    return y
