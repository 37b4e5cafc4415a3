# kgtui: op=aten::sub expect=wrong_value diagnosis=ignored_argument case="40x33 f32 alpha -3"
"""Difference that leaves out alpha."""

import torch
import triton
import triton.language as tl


@triton.jit
def sub_kernel(x_ptr, other_ptr, y_ptr, count, alpha: tl.float64, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < count
    x = tl.load(x_ptr + offset, mask=inside)
    other = tl.load(other_ptr + offset, mask=inside)
    if x.dtype.is_floating():
        x = x if x.dtype == tl.float64 else x.to(tl.float32)
        other, scale = other.to(x.dtype), alpha.to(x.dtype)
    else:
        scale = alpha.to(tl.int64).to(x.dtype)
    tl.store(y_ptr + offset, (x - other).to(y_ptr.dtype.element_ty), mask=inside)


def sub(self, other, alpha=1):
    kind = torch.result_type(self, other)
    other = torch.as_tensor(other, dtype=kind, device=self.device)
    x, other = (side.contiguous() for side in torch.broadcast_tensors(self.to(kind), other))
    y = torch.empty(x.shape, dtype=kind, device=x.device)
    if y.numel():
        x, other, target = (torch.view_as_real(t) if t.is_complex() else t for t in (x, other, y))
        sub_kernel[(triton.cdiv(target.numel(), 1024),)](x, other, target, target.numel(), float(alpha), BLOCK=1024)
    return y
