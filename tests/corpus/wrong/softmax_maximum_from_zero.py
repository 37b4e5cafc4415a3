# kgtui: op=aten::softmax expect=nonfinite diagnosis=reduction_identity case="9x300 f32 large"
"""The running maximum begins at 0, not at -inf: where all values are far below 0, every exponential is 0, and 0 / 0."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, y_ptr, cols, COLS: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * cols
    highest = tl.zeros((COLS,), dtype=tl.float32)
    for start in range(0, cols, COLS):
        col = start + tl.arange(0, COLS)
        x = tl.load(x_ptr + first + col, mask=col < cols, other=float("-inf")).to(tl.float32)
        highest = tl.maximum(highest, x)
    top = tl.max(highest, axis=0)
    total = tl.zeros((COLS,), dtype=tl.float32)
    for start in range(0, cols, COLS):
        col = start + tl.arange(0, COLS)
        x = tl.load(x_ptr + first + col, mask=col < cols, other=float("-inf")).to(tl.float32)
        total += tl.exp(x - top)
    scale = tl.sum(total, axis=0)
    for start in range(0, cols, COLS):
        col = start + tl.arange(0, COLS)
        x = tl.load(x_ptr + first + col, mask=col < cols, other=0.0).to(tl.float32)
        tl.store(y_ptr + first + col, (tl.exp(x - top) / scale).to(y_ptr.dtype.element_ty), mask=col < cols)


def softmax(self, dim, dtype=None):
    x = self.to(dtype or self.dtype)
    x = (x.movedim(dim, -1) if self.ndim else x).contiguous()
    y = torch.empty_like(x)
    if y.numel():
        cols = x.shape[-1] if x.ndim else 1
        softmax_kernel[(y.numel() // cols,)](x, y, cols, COLS=1024)
    return y.movedim(-1, dim) if self.ndim else y
