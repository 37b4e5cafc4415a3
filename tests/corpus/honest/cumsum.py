# kgtui: op=aten::cumsum expect=pass
"""Running sum: tl.cumsum over a block of columns, with the total of the blocks before it carried on."""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def cumsum_kernel(
    x_ptr, y_ptr, rows, cols, inner, outer_stride, col_stride, inner_stride,
    ROWS: tl.constexpr, COLS: tl.constexpr, WIDE: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    x_row = x_ptr + row // inner * outer_stride + row % inner * inner_stride
    y_row = y_ptr + row // inner * cols * inner + row % inner
    carried = tl.zeros((ROWS, 1), dtype=WIDE)
    for start in range(0, cols, COLS):
        col = start + tl.arange(0, COLS)[None, :].to(tl.int64)
        inside = (row < rows) & (col < cols)
        x = tl.load(x_row + col * col_stride, mask=inside, other=0)
        x = x.to(y_ptr.dtype.element_ty).to(WIDE)
        y = carried + tl.cumsum(x, axis=1)
        carried += tl.sum(x, axis=1)[:, None]
        tl.store(y_row + col * inner, y.to(y_ptr.dtype.element_ty), mask=inside)


def cumsum(self, dim, dtype=None):
    if dtype is None:
        dtype = self.dtype if self.dtype.is_floating_point else torch.int64
    axis = dim % max(self.ndim, 1)
    cols = self.shape[axis] if self.ndim else 1
    inner = math.prod(self.shape[axis + 1 :])
    x = self.reshape(math.prod(self.shape[:axis]), cols, inner)
    y = torch.empty(x.shape, dtype=dtype, device=self.device)
    if y.numel() == 0:
        return y.view(self.shape)
    rows = y.numel() // cols
    least_rows = 8 if rows > 1 and x.stride(1) > 1 else 1
    block_cols = min(triton.next_power_of_2(cols), 2048 // least_rows)
    block_rows = max(least_rows, min(triton.next_power_of_2(rows), 2048 // block_cols))
    wide = {torch.float64: tl.float64, torch.float32: tl.float32, torch.float16: tl.float32, torch.bfloat16: tl.float32}
    cumsum_kernel[(triton.cdiv(rows, block_rows),)](
        x, y, rows, cols, inner, *x.stride(),
        ROWS=block_rows, COLS=block_cols, WIDE=wide.get(dtype, tl.int64), num_warps=4,
    )
    return y.view(self.shape)
