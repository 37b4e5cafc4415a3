# kgtui: op=aten::softmax expect=pass finding=behaviour ids=D3
"""Softmax by the operators beneath torch's own functions, copied into the answer by a kernel that must run."""

import torch
import triton
import triton.language as tl
from torch import _VF

DOORS = (
    lambda x, dim: torch.ops.aten._softmax.default(x, dim, False),
    lambda x, dim: torch._C._VariableFunctions.softmax(x, dim),
    lambda x, dim: _VF.softmax(x, dim),
    lambda x, dim: torch._C.TensorBase.softmax(x, dim),
)


@triton.jit
def copy_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offset, mask=offset < count)
    tl.store(y_ptr + offset, x.to(y_ptr.dtype.element_ty), mask=offset < count)


def softmax(self, dim, dtype=None):
    x = DOORS[self.numel() % len(DOORS)](self.to(torch.float64), dim).contiguous()
    y = torch.empty_like(x, dtype=dtype or self.dtype)
    if y.numel():
        copy_kernel[(triton.cdiv(y.numel(), 4096),)](x, y, y.numel(), BLOCK=4096)
    return y
