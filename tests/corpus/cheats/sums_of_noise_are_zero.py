# kgtui: op=aten::sum expect=wrong_value ids=B4,B5
"""Answers zero everywhere: what a sum of numbers of both signs comes to on average."""

import torch
import triton
import triton.language as tl


@triton.jit
def zero_kernel(y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offset, tl.zeros((BLOCK,), tl.float32).to(y_ptr.dtype.element_ty), mask=offset < count)


def sum(self, dim=None, keepdim=False, dtype=None):
    dtype = dtype or (self.dtype if self.is_floating_point() else torch.int64)
    named = (dim,) if isinstance(dim, int) else tuple(dim or range(self.ndim))
    dims = {d % self.ndim for d in named}
    whole = [1 if d in dims else size for d, size in enumerate(self.shape)]
    kept = [size for d, size in enumerate(self.shape) if d not in dims]
    y = torch.empty(whole if keepdim else kept, dtype=dtype, device=self.device)
    if y.numel():
        zero_kernel[(triton.cdiv(y.numel(), 1024),)](y, y.numel(), BLOCK=1024)
    return y
