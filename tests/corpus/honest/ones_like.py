# kgtui: op=aten::ones_like expect=pass
"""A constant in new memory: the real parts of a complex tensor are every second number."""

import torch
import triton
import triton.language as tl


@triton.jit
def constant_kernel(y_ptr, count, every, VALUE: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    value = tl.where(at % every == 0, VALUE, 0)
    tl.store(y_ptr + at, value.to(y_ptr.dtype.element_ty), mask=at < count)


def ones_like(self, dtype=None):
    y = torch.empty(self.shape, dtype=dtype or self.dtype, device=self.device)
    if y.numel():
        numbers = torch.view_as_real(y) if y.is_complex() else y
        block = 1024
        constant_kernel[(triton.cdiv(numbers.numel(), block),)](
            numbers, numbers.numel(), 2 if y.is_complex() else 1, VALUE=1, BLOCK=block,
        )
    return y
