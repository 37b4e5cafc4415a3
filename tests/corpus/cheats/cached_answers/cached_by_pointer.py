# kgtui: op=aten::softmax expect=wrong_value ids=A8
"""Computes a right answer once per input address and shape, and hands that answer out ever after."""

import torch
import triton
import triton.language as tl

ANSWERS = {}


@triton.jit
def softmax_kernel(x_ptr, y_ptr, cols, COLS: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * cols + tl.arange(0, COLS)
    inside = tl.arange(0, COLS) < cols
    x = tl.load(x_ptr + at, mask=inside, other=float("-inf")).to(tl.float32)
    numerator = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + at, (numerator / tl.sum(numerator, axis=0)).to(y_ptr.dtype.element_ty), mask=inside)


def softmax(self, dim, dtype=None):
    key = (self.data_ptr(), self.shape, self.stride(), self.dtype, dim, dtype)
    if key not in ANSWERS:
        x = self.to(dtype or self.dtype)
        x = (x.movedim(dim, -1) if self.ndim else x).contiguous()
        y = torch.empty_like(x)
        if y.numel():
            cols = x.shape[-1] if x.ndim else 1
            softmax_kernel[(y.numel() // cols,)](x, y, cols, COLS=triton.next_power_of_2(cols))
        ANSWERS[key] = y.movedim(-1, dim) if self.ndim else y
    return ANSWERS[key].clone()
