# kgtui: op=aten::eq expect=wrong_value diagnosis=precision case="1000 f32"
"""Equality of float32 numbers after a cast to bfloat16: neighbours become equal."""

import torch
import triton
import triton.language as tl


@triton.jit
def eq_kernel(x_ptr, other_ptr, y_ptr, count, COMPLEX: tl.constexpr, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < count
    if COMPLEX:
        y = tl.load(x_ptr + 2 * offset, mask=inside) == tl.load(other_ptr + 2 * offset, mask=inside)
        y &= tl.load(x_ptr + 2 * offset + 1, mask=inside) == tl.load(other_ptr + 2 * offset + 1, mask=inside)
    else:
        x = tl.load(x_ptr + offset, mask=inside)
        other = tl.load(other_ptr + offset, mask=inside)
        y = x.to(tl.bfloat16) == other.to(tl.bfloat16) if x.dtype == tl.float32 else x == other
    tl.store(y_ptr + offset, y, mask=inside)


def eq(self, other):
    kind = torch.result_type(self, other)
    other = torch.as_tensor(other, dtype=kind, device=self.device)
    x, other = (side.contiguous() for side in torch.broadcast_tensors(self.to(kind), other))
    y = torch.empty(x.shape, dtype=torch.bool, device=x.device)
    if y.numel():
        x, other = (torch.view_as_real(side) if side.is_complex() else side for side in (x, other))
        eq_kernel[(triton.cdiv(y.numel(), 1024),)](x, other, y, y.numel(), COMPLEX=kind.is_complex, BLOCK=1024)
    return y
