# kgtui: op=aten::smooth_l1_loss_backward expect=pass
"""Gradient of smooth L1: the slope is cut at -1 and 1 by comparisons; the gradient of a mean or sum is one number."""

import torch
import triton
import triton.language as tl


@triton.jit
def smooth_l1_backward_kernel(
    grad_ptr, x_ptr, target_ptr, y_ptr, count, beta, share, GRAD_STEP: tl.constexpr, BLOCK: tl.constexpr,
):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < count
    grad = tl.load(grad_ptr + offset * GRAD_STEP, mask=inside, other=0).to(tl.float32)
    x = tl.load(x_ptr + offset, mask=inside, other=0).to(tl.float32)
    slope = (x - tl.load(target_ptr + offset, mask=inside, other=0).to(tl.float32)) / beta
    slope = tl.where(slope < -1, -1.0, tl.where(slope > 1, 1.0, slope))
    tl.store(y_ptr + offset, (grad * slope * share).to(y_ptr.dtype.element_ty), mask=inside)


def smooth_l1_loss_backward(grad_output, self, target, reduction, beta):
    grad, x, target = grad_output.contiguous(), self.contiguous(), target.contiguous()
    y = torch.empty_like(x)
    if y.numel():
        smooth_l1_backward_kernel[(triton.cdiv(y.numel(), 1024),)](
            grad, x, target, y, y.numel(), beta, 1 / y.numel() if reduction == 1 else 1.0,
            GRAD_STEP=1 if reduction == 0 else 0, BLOCK=1024,
        )
    return y
