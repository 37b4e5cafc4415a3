# kgtui: op=aten::mish expect=pass
"""Mish with tanh(log(1 + exp(x))) as a quotient in exp(-|x|), flat over the elements of a contiguous tensor."""

import torch
import triton
import triton.language as tl


@triton.jit
def mish_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < count
    x = tl.load(x_ptr + offset, mask=inside, other=0)
    x = x if x.dtype == tl.float64 else x.to(tl.float32)
    e = tl.exp(-tl.abs(x))
    top = tl.where(x > 0, 1.0 + 2.0 * e, e * (e + 2.0))
    y = x * (top / (top + tl.where(x > 0, 2.0 * e * e, 2.0)))
    tl.store(y_ptr + offset, y.to(y_ptr.dtype.element_ty), mask=inside)


def mish(self):
    x = self.contiguous()
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if y.numel():
        mish_kernel[(triton.cdiv(y.numel(), 1024),)](x, y, y.numel(), BLOCK=1024)
    return y
