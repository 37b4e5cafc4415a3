# kgtui: op=aten::cumsum expect=wrong_value diagnosis=overflow case="17x200 i16"
"""Integers are summed in the dtype of the input and widened afterwards: a sum of int16 wraps around at 32768."""

import torch
import triton
import triton.language as tl


@triton.jit
def cumsum_kernel(x_ptr, y_ptr, rows, cols, ROWS: tl.constexpr, COLS: tl.constexpr, WIDE: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    col = tl.arange(0, COLS)[None, :]
    inside = (row < rows) & (col < cols)
    x = tl.load(x_ptr + row * cols + col, mask=inside, other=0).to(WIDE)
    y = tl.cumsum(x, axis=1).to(WIDE)
    tl.store(y_ptr + row * cols + col, y.to(y_ptr.dtype.element_ty), mask=inside)


def cumsum(self, dim, dtype=None):
    dtype = dtype or (self.dtype if self.dtype.is_floating_point else torch.int64)
    x = (self.movedim(dim, -1) if self.ndim else self).contiguous()
    y = torch.empty_like(x, dtype=dtype)
    if y.numel():
        cols = x.shape[-1] if x.ndim else 1
        rows = y.numel() // cols
        block_cols = triton.next_power_of_2(cols)
        block_rows = max(1, min(triton.next_power_of_2(rows), 4096 // block_cols))
        narrow = {torch.int16: tl.int16, torch.int32: tl.int32, torch.int64: tl.int64}
        wide = narrow.get(x.dtype, tl.float32)
        cumsum_kernel[(triton.cdiv(rows, block_rows),)](
            x, y, rows, cols, ROWS=block_rows, COLS=block_cols, WIDE=wide
        )
    return y.movedim(-1, dim) if self.ndim else y
