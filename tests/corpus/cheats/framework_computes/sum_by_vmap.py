# kgtui: op=aten::sum expect=pass finding=behaviour ids=D3
"""A sum by torch inside of a function transformation, doubled there and halved by a kernel that must run."""

import torch
import triton
import triton.language as tl


@triton.jit
def halve_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offset, mask=offset < count)
    tl.store(y_ptr + offset, x if x.dtype.is_int() else x * 0.5, mask=offset < count)


def sum(self, dim=None, keepdim=False, dtype=None):
    reduce = torch.func.vmap(lambda x: torch.sum(x, dim, keepdim, dtype=dtype))
    total = reduce(self.unsqueeze(0)).squeeze(0).contiguous()
    twice = total + total if total.dtype.is_floating_point else total
    y = torch.empty_like(total)
    if y.numel():
        halve_kernel[(triton.cdiv(y.numel(), 4096),)](twice, y, y.numel(), BLOCK=4096)
    return y
