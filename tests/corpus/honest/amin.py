# kgtui: op=aten::amin expect=pass
"""Minimum, one row per program; NaN among the elements gives NaN."""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def less(a, b):
    return tl.where((a < b) | (a != a), a, b)


@triton.jit
def amin_kernel(x_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    least = tl.load(x_ptr + row * cols)
    for start in range(0, cols, BLOCK):
        col = start + tl.arange(0, BLOCK).to(tl.int64)
        # Lanes beyond the row repeat its first element.
        x = tl.load(x_ptr + row * cols + tl.where(col < cols, col, 0))
        least = less(least, tl.reduce(x, 0, less))
    tl.store(y_ptr + row, least)


def amin(self, dim, keepdim=False):
    dims = sorted(d % self.dim() for d in dim) if dim else list(range(self.dim()))
    kept = [d for d in range(self.dim()) if d not in dims]
    cols = math.prod(self.shape[d] for d in dims)
    x = self.permute([*kept, *dims]).contiguous()
    narrow = x.view(torch.uint8) if x.dtype == torch.bool else x
    y = torch.empty([self.shape[d] for d in kept], dtype=x.dtype, device=x.device)
    if y.numel():
        out = y.view(torch.uint8) if x.dtype == torch.bool else y
        amin_kernel[(y.numel(),)](narrow, out, cols, BLOCK=min(1024, triton.next_power_of_2(cols)))
    return y.reshape([1 if d in dims else size for d, size in enumerate(self.shape)]) if keepdim else y
