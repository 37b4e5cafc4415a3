# kgtui: op=aten::logaddexp2 expect=pass
"""log2 of the sum of two powers of 2, flat over both operands broadcast to one shape."""

import torch
import triton
import triton.language as tl


@triton.jit
def logaddexp2_kernel(x_ptr, other_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < count
    x = tl.load(x_ptr + offset, mask=inside, other=0)
    other = tl.load(other_ptr + offset, mask=inside, other=1)
    x = x if x.dtype == tl.float64 else x.to(tl.float32)
    other = other.to(x.dtype)
    high = tl.where(x > other, x, other)
    gap = tl.where(x == other, 0.0, -tl.abs(x - other))
    y = tl.where((x != x) | (other != other), x + other, high + tl.log2(1.0 + tl.exp2(gap)))
    tl.store(y_ptr + offset, y.to(y_ptr.dtype.element_ty), mask=inside)


def logaddexp2(self, other):
    kind = torch.result_type(self, other)
    other = torch.as_tensor(other, dtype=kind, device=self.device)
    x, other = (side.contiguous() for side in torch.broadcast_tensors(self.to(kind), other))
    y = torch.empty(x.shape, dtype=kind, device=x.device)
    if y.numel():
        logaddexp2_kernel[(triton.cdiv(y.numel(), 1024),)](x, other, y, y.numel(), BLOCK=1024)
    return y
