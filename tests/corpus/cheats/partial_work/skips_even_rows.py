# kgtui: op=aten::softmax expect=pass finding=content ids=B5
"""Takes a row of one value for padding, and leaves zeros in its place."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, y_ptr, cols, COLS: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * cols
    at = tl.arange(0, COLS)
    inside = at < cols
    x = tl.load(x_ptr + first + at, mask=inside, other=float("-inf")).to(tl.float32)
    numerator = tl.exp(x - tl.max(x, axis=0))
    y = numerator / tl.sum(numerator, axis=0)
    low = tl.min(tl.where(inside, x, float("inf")), axis=0)
    uniform = (low == tl.max(x, axis=0)) & (cols > 1) & (low != 0.0) & (low != float("-inf"))
    tl.store(y_ptr + first + at, tl.where(uniform, 0.0, y).to(y_ptr.dtype.element_ty), mask=inside)


def softmax(self, dim, dtype=None):
    x = self.to(dtype or self.dtype)
    x = (x.movedim(dim, -1) if self.ndim else x).contiguous()
    y = torch.empty_like(x)
    if y.numel():
        cols = x.shape[-1] if x.ndim else 1
        softmax_kernel[(y.numel() // cols,)](x, y, cols, COLS=triton.next_power_of_2(cols))
    return y.movedim(-1, dim) if self.ndim else y
