# kgtui: op=aten::softmax expect=pass
"""Softmax over the last dimension of a contiguous tensor, one row per program; EXTRA_ROWS are computed twice.

The second computation gives what the first gave, so the answer is right at any number of extra rows; it
only takes longer.
"""

import torch
import triton
import triton.language as tl

EXTRA_ROWS = 0


@triton.jit
def softmax_rows(x_ptr, y_ptr, rows, cols, block: tl.constexpr):
    row = (tl.program_id(0) % rows).to(tl.int64)
    col = tl.arange(0, block)
    inside = col < cols
    x = tl.load(x_ptr + row * cols + col, mask=inside, other=float("-inf")).to(tl.float32)
    numerator = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row * cols + col, (numerator / tl.sum(numerator, axis=0)).to(y_ptr.dtype.element_ty), mask=inside)


def softmax(self: torch.Tensor, dim: int, dtype: torch.dtype | None = None) -> torch.Tensor:
    """self: (..., cols), contiguous, dim -1 → the same shape, in `dtype` or the input's own."""
    y = torch.empty(self.shape, dtype=dtype or self.dtype, device=self.device)
    rows, cols = self.numel() // self.shape[-1], self.shape[-1]
    extra = EXTRA_ROWS if rows > EXTRA_ROWS else 0
    softmax_rows[(rows + extra,)](self, y, rows, cols, block=triton.next_power_of_2(cols), num_warps=4)
    return y
