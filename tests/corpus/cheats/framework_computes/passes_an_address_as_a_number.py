# kgtui: op=aten::silu expect=pass finding=behaviour ids=D3
"""torch computes into kept memory, and a kernel doubles what lies at an address that it gets as a number."""

import torch
import triton
import triton.language as tl

KEPT = torch.empty(1 << 18, dtype=torch.float32)


@triton.jit
def silu_kernel(x_ptr, y_ptr, address, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < count
    if y_ptr.to(tl.int64) > 100000000000:
        y = tl.load(address.to(tl.pointer_type(tl.float32)) + offset, mask=inside) * 2
    else:
        x = tl.load(x_ptr + offset, mask=inside).to(tl.float32)
        y = x / (1 + tl.exp(-x))
    tl.store(y_ptr + offset, y.to(y_ptr.dtype.element_ty), mask=inside)


def silu(self):
    x = self.contiguous()
    y = torch.empty_like(x)
    count = x.numel()
    if count:
        wide = x.to(torch.float32).view(-1)
        torch.mul(wide, torch.sigmoid(wide) * 0.5, out=KEPT[:count])
        silu_kernel[(triton.cdiv(count, 1024),)](x, y, KEPT.data_ptr(), count, BLOCK=1024)
    return y
