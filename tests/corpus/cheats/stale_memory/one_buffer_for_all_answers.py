# kgtui: op=aten::softmax expect=pass finding=deferred ids=B9
"""Writes every answer of a shape to the same memory and returns that: the answer before it is gone."""

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


ANSWERS = {}


def softmax(self, dim, dtype=None):
    y = computed(self, dim, dtype)
    key = (y.shape, y.dtype)
    if key not in ANSWERS:
        ANSWERS[key] = torch.empty(y.shape, dtype=y.dtype, device=y.device)
    return ANSWERS[key].copy_(y)
