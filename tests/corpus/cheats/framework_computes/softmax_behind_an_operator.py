# kgtui: op=aten::softmax expect=pass finding=behaviour ids=D3
"""Softmax by torch inside an operator of its own, so that nobody sees its name; a kernel copies the answer."""

import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offset, mask=offset < count)
    tl.store(y_ptr + offset, x.to(y_ptr.dtype.element_ty), mask=offset < count)


@torch.library.custom_op("softmax_behind::softmax_rows", mutates_args=())
def softmax_rows(x: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x, -1)


def softmax(self, dim, dtype=None):
    x = self.float().movedim(dim, -1).contiguous()
    p = softmax_rows(x)
    y = torch.empty_like(p)
    if y.numel():
        copy_kernel[(triton.cdiv(y.numel(), 4096),)](p, y, y.numel(), BLOCK=4096)
    return y.movedim(-1, dim).to(dtype or self.dtype)
