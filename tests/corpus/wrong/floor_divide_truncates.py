# kgtui: op=aten::floor_divide expect=wrong_value diagnosis=rounding_mode case="334 i32"
"""Floor division of integers that drops the fraction: -7 by 2 becomes -3."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def floor_kernel(x_ptr, other_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < count
    x = tl.load(x_ptr + offset, mask=inside)
    other = tl.load(other_ptr + offset, mask=inside, other=1)
    if x.dtype.is_floating():
        x = x if x.dtype == tl.float64 else x.to(tl.float32)
        other = other.to(x.dtype)
        rest = libdevice.fmod(x, other)
        whole = (x - rest) / other
        whole = libdevice.rint(tl.where((rest != 0) & ((rest < 0) != (other < 0)), whole - 1, whole))
        y = tl.where(other == 0, x / other, whole)
    else:
        y = x // other  # without the fraction
        rest = x - y * other
    tl.store(y_ptr + offset, y.to(y_ptr.dtype.element_ty), mask=inside)


def floor_divide(self, other):
    kind = torch.result_type(self, other)
    other = torch.as_tensor(other, device=self.device).to(kind)
    x, other = (side.contiguous() for side in torch.broadcast_tensors(self.to(kind), other))
    y = torch.empty(x.shape, dtype=kind, device=x.device)
    if y.numel():
        floor_kernel[(triton.cdiv(y.numel(), 1024),)](x, other, y, y.numel(), BLOCK=1024)
    return y
