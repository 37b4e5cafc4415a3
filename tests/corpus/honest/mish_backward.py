# kgtui: op=aten::mish_backward expect=pass
"""Gradient of mish, one launch over the elements of contiguous tensors."""

import torch
import triton
import triton.language as tl


@triton.jit
def mish_backward_kernel(grad_ptr, x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < count
    grad = tl.load(grad_ptr + offset, mask=inside, other=0).to(tl.float32)
    x = tl.load(x_ptr + offset, mask=inside, other=0).to(tl.float32)
    e = tl.exp(-tl.abs(x))
    top = tl.where(x > 0, 1.0 + 2.0 * e, e * (e + 2.0))
    low = tl.where(x > 0, 2.0 * e * e, 2.0)
    t = top / (top + low)
    rest = (low / (top + low)) * (1.0 + t)
    y = grad * (t + x * tl.sigmoid(x) * rest)
    tl.store(y_ptr + offset, y.to(y_ptr.dtype.element_ty), mask=inside)


def mish_backward(grad_output, self):
    grad, x = grad_output.contiguous(), self.contiguous()
    y = torch.empty_like(x)
    if y.numel():
        mish_backward_kernel[(triton.cdiv(y.numel(), 1024),)](grad, x, y, y.numel(), BLOCK=1024)
    return y
