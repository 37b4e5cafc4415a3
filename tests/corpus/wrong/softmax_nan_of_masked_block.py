# kgtui: op=aten::softmax expect=nonfinite diagnosis=reduction_identity case="2x9000 f32 masked head"
"""Online softmax without a guard: while all columns so far are -inf, -inf minus -inf is nan and stays in the sum."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, y_ptr, cols, COLS: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * cols
    highest = float("-inf")
    total = 0.0
    for start in range(0, cols, COLS):
        col = start + tl.arange(0, COLS)
        x = tl.load(x_ptr + first + col, mask=col < cols, other=float("-inf")).to(tl.float32)
        higher = tl.maximum(highest, tl.max(x, axis=0))
        total = total * tl.exp(highest - higher) + tl.sum(tl.exp(x - higher), axis=0)
        highest = higher
    for start in range(0, cols, COLS):
        col = start + tl.arange(0, COLS)
        x = tl.load(x_ptr + first + col, mask=col < cols, other=0.0).to(tl.float32)
        y = tl.exp(x - highest) / total
        tl.store(y_ptr + first + col, y.to(y_ptr.dtype.element_ty), mask=col < cols)


def softmax(self, dim, dtype=None):
    x = self.to(dtype or self.dtype)
    x = (x.movedim(dim, -1) if self.ndim else x).contiguous()
    y = torch.empty_like(x)
    if y.numel():
        cols = x.shape[-1] if x.ndim else 1
        softmax_kernel[(y.numel() // cols,)](x, y, cols, COLS=1024)
    return y.movedim(-1, dim) if self.ndim else y
