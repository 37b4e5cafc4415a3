# kgtui: op=aten::softmax expect=pass finding=ghost_replay ids=A21,D4
"""A whole softmax kernel runs and its result is dropped; what is returned was computed by torch."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, y_ptr, cols, COLS: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * cols
    col = tl.arange(0, COLS)
    x = tl.load(x_ptr + first + col, mask=col < cols, other=float("-inf"))
    numerator = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + first + col, numerator / tl.sum(numerator, axis=0), mask=col < cols)


def softmax(self, dim, dtype=None):
    x = self.float().movedim(dim, -1).contiguous()
    y = torch.empty_like(x)
    if x.numel():
        softmax_kernel[(x.numel() // x.shape[-1],)](x, y, x.shape[-1], COLS=triton.next_power_of_2(x.shape[-1]))
    return torch.softmax(self.double(), dim).to(dtype or self.dtype)
