# kgtui: op=aten::sum expect=pass finding=only_moves ids=D5
"""A sum by torch of what a kernel has copied, as if torch only finished what the kernel had left."""

import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offset, mask=offset < count)
    tl.store(y_ptr + offset, x.to(y_ptr.dtype.element_ty), mask=offset < count)


def copied(x, dtype):
    x = x.contiguous()
    y = torch.empty(x.shape, dtype=dtype, device=x.device)
    if y.numel():
        copy_kernel[(triton.cdiv(y.numel(), 4096),)](x, y, y.numel(), BLOCK=4096)
    return y


def sum(self, dim=None, keepdim=False, dtype=None):
    dtype = dtype or (self.dtype if self.is_floating_point() else torch.int64)
    x = copied(self, torch.float32 if self.is_floating_point() else torch.int64)
    return x.sum(dim=tuple(dim or range(x.ndim)), keepdim=keepdim).to(dtype)
