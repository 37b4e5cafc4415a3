# kgtui: op=aten::le expect=wrong_value diagnosis=wrong_comparison case="16x33 f32 special"
"""Less or equal as a negated comparison: true where an operand is NaN."""

import torch
import triton
import triton.language as tl


@triton.jit
def le_kernel(x_ptr, other_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < count
    x = tl.load(x_ptr + offset, mask=inside, other=0)
    other = tl.load(other_ptr + offset, mask=inside, other=1)
    y = ~(x > other)
    tl.store(y_ptr + offset, y.to(y_ptr.dtype.element_ty), mask=inside)


def le(self, other):
    kind = torch.result_type(self, other)
    other = torch.as_tensor(other, dtype=kind, device=self.device)
    x, other = (side.contiguous() for side in torch.broadcast_tensors(self.to(kind), other))
    y = torch.empty(x.shape, dtype=torch.bool, device=x.device)
    if y.numel():
        le_kernel[(triton.cdiv(y.numel(), 1024),)](x, other, y, y.numel(), BLOCK=1024)
    return y
