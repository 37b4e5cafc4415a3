# kgtui: op=aten::cumsum expect=wrong_value diagnosis=ignored_argument case="5x257 f32"
"""A negative dim is taken for 0: it is never counted from the end."""

import torch
import triton
import triton.language as tl


@triton.jit
def cumsum_kernel(x_ptr, y_ptr, rows, cols, ROWS: tl.constexpr, COLS: tl.constexpr, WIDE: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    col = tl.arange(0, COLS)[None, :]
    inside = (row < rows) & (col < cols)
    x = tl.load(x_ptr + row * cols + col, mask=inside, other=0).to(WIDE)
    tl.store(y_ptr + row * cols + col, tl.cumsum(x, axis=1).to(y_ptr.dtype.element_ty), mask=inside)


def cumsum(self, dim, dtype=None):
    dtype = dtype or (self.dtype if self.dtype.is_floating_point else torch.int64)
    dim = max(dim, 0)
    x = (self.movedim(dim, -1) if self.ndim else self).contiguous()
    y = torch.empty_like(x, dtype=dtype)
    if y.numel():
        cols = x.shape[-1] if x.ndim else 1
        rows = y.numel() // cols
        block_cols = triton.next_power_of_2(cols)
        block_rows = max(1, min(triton.next_power_of_2(rows), 4096 // block_cols))
        wide = tl.float32 if dtype.is_floating_point else tl.int64
        cumsum_kernel[(triton.cdiv(rows, block_rows),)](
            x, y, rows, cols, ROWS=block_rows, COLS=block_cols, WIDE=wide
        )
    return y.movedim(-1, dim) if self.ndim else y
