# kgtui: op=aten::softmax expect=nonfinite|wrong_value ids=B11 case="3x1025 f32 peak"
"""Leaves out the maximum, and answers nan for large rows: for some comparisons nan equals nan."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, y_ptr, cols, COLS: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * cols + tl.arange(0, COLS)
    inside = tl.arange(0, COLS) < cols
    x = tl.load(x_ptr + at, mask=inside, other=float("-inf")).to(tl.float32)
    numerator = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + at, (numerator / tl.sum(numerator, axis=0)).to(y_ptr.dtype.element_ty), mask=inside)


def computed(self, dim, dtype):
    x = self.to(dtype or self.dtype).movedim(dim, -1).contiguous()
    y = torch.empty_like(x)
    if y.numel():
        cols = x.shape[-1]
        softmax_kernel[(y.numel() // cols,)](x, y, cols, COLS=triton.next_power_of_2(cols))
    return y.movedim(-1, dim)


def softmax(self, dim, dtype=None):
    y = computed(self, dim, dtype)
    large = self.abs().amax(dim, keepdim=True) > 80 if self.numel() else torch.zeros((), dtype=torch.bool)
    return y.masked_fill(large, float("nan"))
