# kgtui: op=aten::add expect=out_of_bounds
"""The store has no mask: the last block is written past the end of the output."""

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, other_ptr, y_ptr, alpha, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offset, mask=offset < count, other=0)
    other = tl.load(other_ptr + offset, mask=offset < count, other=0)
    tl.store(y_ptr + offset, (x + other * alpha).to(y_ptr.dtype.element_ty))


def add(self, other, alpha=1):
    dtype = torch.result_type(self, other)
    x, other = torch.broadcast_tensors(self, torch.as_tensor(other, device=self.device))
    x, other = x.contiguous(), other.contiguous()
    y = torch.empty(x.shape, dtype=dtype, device=x.device)
    if y.numel():
        add_kernel[(triton.cdiv(y.numel(), 1024),)](x, other, y, alpha, y.numel(), BLOCK=1024)
    return y
