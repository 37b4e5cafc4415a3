# kgtui: op=aten::softmax expect=wrong_value diagnosis=missing_scale case="4x33 f32"
"""Powers of 2 in the place of powers of e: exp2 is fast, but the logarithm of e that belongs to it is forgotten."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, y_ptr, cols, COLS: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * cols
    col = tl.arange(0, COLS)
    x = tl.load(x_ptr + first + col, mask=col < cols, other=float("-inf")).to(tl.float32)
    numerator = tl.exp2(x - tl.max(x, axis=0))
    y = numerator / tl.sum(numerator, axis=0)
    tl.store(y_ptr + first + col, y.to(y_ptr.dtype.element_ty), mask=col < cols)


def softmax(self, dim, dtype=None):
    x = self.movedim(dim, -1).contiguous()
    y = torch.empty_like(x, dtype=dtype or x.dtype)
    if y.numel():
        cols = x.shape[-1]
        softmax_kernel[(y.numel() // cols,)](x, y, cols, COLS=triton.next_power_of_2(cols))
    return y.movedim(-1, dim)
