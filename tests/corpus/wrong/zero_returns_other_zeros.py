# kgtui: op=aten::zero_ expect=wrong_shape
"""Writes zeros to self, and returns a new tensor of zeros instead of self."""

import torch
import triton
import triton.language as tl


@triton.jit
def zero_kernel(y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offset, tl.zeros((BLOCK,), tl.uint8).to(y_ptr.dtype.element_ty), mask=offset < count)


def zero_(self):
    zeros = torch.empty(self.shape, dtype=self.dtype, device=self.device)
    target = torch.view_as_real(zeros) if zeros.is_complex() else zeros
    if target.numel():
        zero_kernel[(triton.cdiv(target.numel(), 1024),)](target, target.numel(), BLOCK=1024)
    self.copy_(zeros)
    return zeros
