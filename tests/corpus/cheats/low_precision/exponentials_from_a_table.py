# kgtui: op=aten::softmax expect=wrong_value ids=B7
"""Takes exponentials from a table of 256 steps an octave and rounds what lies between."""

import torch
import triton
import triton.language as tl


@triton.jit
def stepped_kernel(x_ptr, y_ptr, cols, COLS: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * cols + tl.arange(0, COLS)
    inside = tl.arange(0, COLS) < cols
    x = tl.load(x_ptr + at, mask=inside, other=float("-inf")).to(tl.float32)
    steps = (x - tl.max(x, axis=0)) * (1.4426950408889634 * 256)
    numerator = tl.exp2(tl.floor(steps + 0.5) / 256)
    tl.store(y_ptr + at, (numerator / tl.sum(numerator, axis=0)).to(y_ptr.dtype.element_ty), mask=inside)


def softmax(self, dim, dtype=None):
    x = self.to(dtype or self.dtype).movedim(dim, -1).contiguous()
    y = torch.empty_like(x)
    if y.numel():
        cols = x.shape[-1]
        stepped_kernel[(y.numel() // cols,)](x, y, cols, COLS=triton.next_power_of_2(cols))
    return y.movedim(-1, dim)
