# kgtui: op=aten::to expect=wrong_value diagnosis=zeroed case="9x40 f32 to bool"
"""A cast to bool that keeps the lowest byte: 256 becomes false."""

import torch
import triton
import triton.language as tl


@triton.jit
def cast_kernel(x_ptr, y_ptr, count, FROM_STEP: tl.constexpr, TO_STEP: tl.constexpr, TO_BOOL: tl.constexpr, BLOCK: tl.constexpr):
    flat = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = flat < count
    x = tl.load(x_ptr + FROM_STEP * flat, mask=inside, other=0)
    # Of complex numbers, which are pairs, a real target has the first; a real source has no second.
    second = tl.load(x_ptr + FROM_STEP * flat + 1, mask=inside, other=0) if FROM_STEP == 2 else tl.zeros_like(x)
    if TO_BOOL:
        x = (x.to(tl.int64) & 255 != 0).to(tl.int8)
    tl.store(y_ptr + TO_STEP * flat, x.to(y_ptr.dtype.element_ty), mask=inside)
    if TO_STEP == 2:
        tl.store(y_ptr + TO_STEP * flat + 1, second.to(y_ptr.dtype.element_ty), mask=inside)


def to(self, dtype, non_blocking=False, copy=False):
    if self.dtype == dtype and not copy:
        return self
    y = torch.empty(self.shape, dtype=dtype, device=self.device)
    if y.numel():
        cast_kernel[(triton.cdiv(y.numel(), 1024),)](
            numbers(self.contiguous()), numbers(y), y.numel(), FROM_STEP=1 + self.is_complex(),
            TO_STEP=1 + y.is_complex(), TO_BOOL=dtype == torch.bool, BLOCK=1024,
        )
    return y


def numbers(x):
    """A complex tensor as pairs, a tensor of booleans as bytes of 0 and 1."""
    return torch.view_as_real(x) if x.is_complex() else x.view(torch.int8) if x.dtype == torch.bool else x
