# kgtui: op=aten::softmax expect=nonfinite diagnosis=overflow case="9x300 f32 large"
"""The maximum is not subtracted, so that exp overflows from 89 on and inf / inf is nan."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, y_ptr, rows, cols, ROWS: tl.constexpr, COLS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    col = tl.arange(0, COLS)[None, :]
    inside = (row < rows) & (col < cols)
    x = tl.load(x_ptr + row * cols + col, mask=inside, other=float("-inf")).to(tl.float32)
    numerator = tl.exp(x)
    y = numerator / tl.sum(numerator, axis=1)[:, None]
    tl.store(y_ptr + row * cols + col, y.to(y_ptr.dtype.element_ty), mask=inside)


def softmax(self, dim, dtype=None):
    x = self.to(dtype or self.dtype)
    x = (x.movedim(dim, -1) if self.ndim else x).contiguous()
    y = torch.empty_like(x)
    if y.numel():
        cols = x.shape[-1] if x.ndim else 1
        rows = y.numel() // cols
        block_cols = triton.next_power_of_2(cols)
        block_rows = max(1, min(triton.next_power_of_2(rows), 4096 // block_cols))
        softmax_kernel[(triton.cdiv(rows, block_rows),)](x, y, rows, cols, ROWS=block_rows, COLS=block_cols)
    return y.movedim(-1, dim) if self.ndim else y
