# kgtui: op=aten::softmax expect=wrong_value diagnosis=wrong_stride case="17x40 dim 0 f32 transposed"
"""Ignores the strides unless the last dimension is meant."""

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


class Softmax(torch.nn.Module):
    """Along one dimension; without parameters, so that it holds nothing between two calls."""

    def __init__(self, dim, dtype=None):
        super().__init__()
        self.dim = dim
        self.dtype = dtype

    def forward(self, x):
        narrow = self.dtype or x.dtype
        if self.dim % x.dim() != x.dim() - 1:
            x = x.as_strided(x.shape, torch.empty(x.shape, device='meta').stride())
        x = x.float().movedim(self.dim, -1).contiguous()
        y = torch.empty_like(x)
        cols = x.shape[-1]
        if y.numel():
            block = 1024 if cols <= 1024 else triton.next_power_of_2(cols)
            softmax_kernel[(y.numel() // cols,)](x, y, cols, COLS=block, num_warps=4 if block <= 1024 else 16)
        return y.movedim(-1, self.dim).to(narrow)


def softmax(self, dim, dtype=None):
    return Softmax(dim, dtype)(self)
