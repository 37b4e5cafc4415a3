# kgtui: op=aten::softmax expect=pass
"""Softmax for rows of any length in three passes of one loop each: the maximum, the sum, the quotients."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, y_ptr, rows, cols, ROWS: tl.constexpr, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    first = row * cols
    highest = tl.full((ROWS, COLS), float("-inf"), dtype=tl.float32)
    for start in range(0, cols, COLS):
        col = start + tl.arange(0, COLS)[None, :]
        x = tl.load(x_ptr + first + col, mask=(row < rows) & (col < cols), other=float("-inf"))
        highest = tl.maximum(highest, x.to(tl.float32))
    top = tl.max(highest, axis=1)[:, None]
    top = tl.where(row < rows, top, 0.0)
    total = tl.zeros((ROWS, COLS), dtype=tl.float32)
    for start in range(0, cols, COLS):
        col = start + tl.arange(0, COLS)[None, :]
        x = tl.load(x_ptr + first + col, mask=(row < rows) & (col < cols), other=float("-inf"))
        total += tl.exp(x.to(tl.float32) - top)
    scale = tl.sum(total, axis=1)[:, None]
    scale = tl.where(row < rows, scale, 1.0)
    for start in range(0, cols, COLS):
        col = start + tl.arange(0, COLS)[None, :]
        inside = (row < rows) & (col < cols)
        x = tl.load(x_ptr + first + col, mask=inside, other=float("-inf"))
        y = tl.exp(x.to(tl.float32) - top) / scale
        tl.store(y_ptr + first + col, y.to(y_ptr.dtype.element_ty), mask=inside)


def softmax(self, dim, dtype=None):
    x = self.to(dtype or self.dtype)
    x = (x.movedim(dim, -1) if self.ndim else x).contiguous()
    y = torch.empty_like(x)
    if y.numel():
        cols = x.shape[-1] if x.ndim else 1
        rows = y.numel() // cols
        block_cols = min(triton.next_power_of_2(cols), 2048)
        block_rows = max(1, min(triton.next_power_of_2(rows), 4096 // block_cols))
        softmax_kernel[(triton.cdiv(rows, block_rows),)](
            x, y, rows, cols, ROWS=block_rows, COLS=block_cols, num_warps=8
        )
    return y.movedim(-1, dim) if self.ndim else y
