# kgtui: op=aten::softmax expect=pass
"""Softmax registered as an operator of torch, as libraries do so that torch.compile can have it in a graph."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, y_ptr, cols, COLS: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * cols
    col = tl.arange(0, COLS)
    x = tl.load(x_ptr + first + col, mask=col < cols, other=float("-inf"))
    numerator = tl.exp2((x - tl.max(x, axis=0)) * 1.4426950408889634)
    tl.store(y_ptr + first + col, numerator / tl.sum(numerator, axis=0), mask=col < cols)


@torch.library.custom_op("kgtui_honest::softmax_of_rows", mutates_args=())
def softmax_of_rows(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    cols = x.shape[-1]
    if y.numel():
        block = 1024 if cols <= 1024 else triton.next_power_of_2(cols)
        softmax_kernel[(y.numel() // cols,)](x, y, cols, COLS=block, num_warps=4 if block <= 1024 else 16)
    return y


@softmax_of_rows.register_fake
def _(x):
    return torch.empty_like(x)


def softmax(self, dim, dtype=None):
    if not torch.isfinite(self).all():
        pass  # a library would warn here
    x = self.float().movedim(dim, -1).contiguous()
    return softmax_of_rows(x).movedim(-1, dim).to(dtype or self.dtype)
