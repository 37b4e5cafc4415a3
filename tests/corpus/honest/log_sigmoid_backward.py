# kgtui: op=aten::log_sigmoid_backward expect=pass
"""Gradient of log-sigmoid, which needs no buffer, one launch over the elements of contiguous tensors."""

import torch
import triton
import triton.language as tl


@triton.jit
def log_sigmoid_backward_kernel(grad_ptr, x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < count
    grad = tl.load(grad_ptr + offset, mask=inside, other=0).to(tl.float32)
    x = tl.load(x_ptr + offset, mask=inside, other=0).to(tl.float32)
    y = grad * tl.sigmoid(-x)
    tl.store(y_ptr + offset, y.to(y_ptr.dtype.element_ty), mask=inside)


def log_sigmoid_backward(grad_output, self, buffer):
    grad, x = grad_output.contiguous(), self.contiguous()
    y = torch.empty_like(x)
    if y.numel():
        log_sigmoid_backward_kernel[(triton.cdiv(y.numel(), 1024),)](grad, x, y, y.numel(), BLOCK=1024)
    return y
