# kgtui: op=aten::sum expect=pass finding=behaviour ids=D1,D4
"""A sum by torch, beside a kernel that is launched on the same input and whose result nobody looks at."""

import torch
import triton
import triton.language as tl


@triton.jit
def sum_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offset, mask=offset < count, other=0)
    tl.store(y_ptr + offset, x, mask=offset < count)


def sum(self, dim=None, keepdim=False, dtype=None):
    x = self.contiguous()
    beside = torch.empty_like(x)
    if x.numel():
        sum_kernel[(triton.cdiv(x.numel(), 4096),)](x, beside, x.numel(), BLOCK=4096)
    return torch.sum(x, dim, keepdim, dtype=dtype)
