# kgtui: op=aten::heaviside expect=pass
"""Step function, flat over both operands broadcast to one shape."""

import torch
import triton
import triton.language as tl


@triton.jit
def heaviside_kernel(x_ptr, other_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < count
    x = tl.load(x_ptr + offset, mask=inside, other=0)
    other = tl.load(other_ptr + offset, mask=inside, other=1)
    y = tl.where(x == 0, other, (x > 0).to(x.dtype))
    tl.store(y_ptr + offset, y.to(y_ptr.dtype.element_ty), mask=inside)


def heaviside(self, values):
    kind = torch.result_type(self, values)
    other = torch.as_tensor(values, dtype=kind, device=self.device)
    x, other = (side.contiguous() for side in torch.broadcast_tensors(self.to(kind), other))
    y = torch.empty(x.shape, dtype=kind, device=x.device)
    if y.numel():
        heaviside_kernel[(triton.cdiv(y.numel(), 1024),)](x, other, y, y.numel(), BLOCK=1024)
    return y
