# kgtui: op=aten::softmax expect=pass finding=behaviour ids=D3
"""Softmax by torch where torch's own ways of noting operators are turned off, copied by a kernel that must run."""

import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offset, tl.load(x_ptr + offset, mask=offset < count), mask=offset < count)


def softmax(self, dim, dtype=None):
    with torch._C._DisableTorchDispatch():
        x = torch.softmax(self, dim, dtype=dtype).contiguous()
    y = torch.empty_like(x)
    if y.numel():
        copy_kernel[(triton.cdiv(y.numel(), 4096),)](x, y, y.numel(), BLOCK=4096)
    return y
