"""y[i] = sum_j x[i, j], accumulated in float32."""

import torch
import triton
import triton.language as tl

BLOCK = 2048


@triton.jit
def row_sum_kernel(x_ptr, y_ptr, cols, block: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    total = tl.zeros((block,), dtype=tl.float32)
    for start in range(0, cols, block):
        col = start + tl.arange(0, block)
        total += tl.load(x_ptr + row * cols + col, mask=col < cols, other=0.0)
    tl.store(y_ptr + row, tl.sum(total, axis=0))


def row_sum(x: torch.Tensor) -> torch.Tensor:
    """x: (rows, cols) float32, contiguous → (rows,)."""
    y = torch.empty(x.shape[0], dtype=x.dtype, device=x.device)
    row_sum_kernel[(x.shape[0],)](x, y, x.shape[1], block=BLOCK, num_warps=8)
    return y
