# kgtui: op=aten::add expect=pass
"""Addition over tiles of rows and columns with strides on both operands, so that broadcasting costs no copy."""

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(
    x_ptr, other_ptr, y_ptr, alpha, rows, cols, x_row, x_col, other_row, other_col,
    ROWS: tl.constexpr, COLS: tl.constexpr, INTEGER: tl.constexpr,
):
    row = (tl.program_id(0) * ROWS + tl.arange(0, ROWS))[:, None].to(tl.int64)
    col = (tl.program_id(1) * COLS + tl.arange(0, COLS))[None, :].to(tl.int64)
    inside = (row < rows) & (col < cols)
    x = tl.load(x_ptr + row * x_row + col * x_col, mask=inside, other=0)
    other = tl.load(other_ptr + row * other_row + col * other_col, mask=inside, other=0)
    if not INTEGER:
        x = x.to(tl.float32)
        other = other.to(tl.float32)
    tl.store(y_ptr + row * cols + col, (x + alpha * other).to(y_ptr.dtype.element_ty), mask=inside)


def as_matrix(x, shape):
    """`x` broadcast to `shape` and seen as rows and columns: a view wherever its strides allow that."""
    return x.expand(shape).reshape(-1, shape[-1]) if shape else x.reshape(1, 1)


def add(self, other, alpha=1):
    shape = torch.broadcast_shapes(self.shape, other.shape)
    y = torch.empty(shape, dtype=self.dtype, device=self.device)
    if y.numel() == 0:
        return y
    x, other = as_matrix(self, shape), as_matrix(other, shape)
    alpha = float(alpha) if y.is_floating_point() else alpha
    rows, cols = x.shape
    grid = (triton.cdiv(rows, 32), triton.cdiv(cols, 128))
    add_kernel[grid](
        x, other, y, alpha, rows, cols, *x.stride(), *other.stride(),
        ROWS=32, COLS=128, INTEGER=not y.is_floating_point(), num_warps=4,
    )
    return y
