# kgtui: op=aten::softmax
"""Softmax along any dimension: y = exp(x - max(x)) / sum(exp(x - max(x))).

The elements along `dim` form one row.  A program takes a tile of several rows, so that short rows
still fill a GPU's lanes and the interpreter has few programs to walk through.  A row that fits in a
tile is read once; a longer one is read twice, with a running maximum and sum.
"""

import math

import torch
import triton
import triton.language as tl

TILE = 2048  # elements in a tile of short rows
FEWEST_COLS = 64  # narrower tiles would only add code to compile
LARGEST_TILE = 32768  # elements that the registers of 16 warps hold with room to spare


def softmax(self: torch.Tensor, dim: int, dtype: torch.dtype | None = None) -> torch.Tensor:
    """self: any shape, any strides → the same shape, contiguous, in `dtype` or the input's dtype."""
    axis = dim % max(self.ndim, 1)
    cols = self.shape[axis] if self.ndim else 1
    inner = math.prod(self.shape[axis + 1 :])
    # No copy for a contiguous tensor or a transposed matrix: there this reshape is a view.
    x = self.reshape(math.prod(self.shape[:axis]), cols, inner)
    y = torch.empty(x.shape, dtype=dtype or self.dtype, device=self.device)
    if y.numel() == 0:
        return y.view(self.shape)

    rows = y.numel() // cols
    # If neighbours in memory belong to different rows, a tile of eight rows uses all fetched bytes.
    least_rows = 8 if rows > 1 and x.stride(1) > 1 else 1
    block_cols = min(max(triton.next_power_of_2(cols), FEWEST_COLS), LARGEST_TILE // least_rows)
    block_rows = max(least_rows, TILE // block_cols)
    kernel = softmax_short_rows if cols <= block_cols else softmax_long_rows
    grid = (triton.cdiv(rows, block_rows),)
    num_warps = 4 if block_rows * block_cols <= TILE else 16
    kernel[grid](x, y, rows, cols, inner, *x.stride(), ROWS=block_rows, COLS=block_cols, num_warps=num_warps)
    return y.view(self.shape)


@triton.jit
def softmax_short_rows(
    x_ptr, y_ptr, rows, cols, inner, outer_stride, col_stride, inner_stride, ROWS: tl.constexpr, COLS: tl.constexpr
):
    """A tile holds whole rows: load them, normalise, store."""
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    col = tl.arange(0, COLS)[None, :].to(tl.int64)
    x_row_ptr = x_ptr + row // inner * outer_stride + row % inner * inner_stride
    y_row_ptr = y_ptr + row // inner * cols * inner + row % inner
    inside = (row < rows) & (col < cols)

    x = accumulable(tl.load(x_row_ptr + col * col_stride, mask=inside, other=0.0), y_ptr)
    x = tl.where(col < cols, x, float("-inf"))  # exp(-inf) = 0: padding adds nothing to the sum
    # Without subtracting the maximum, exp overflows float32 from x = 89 on.
    numerator = tl.exp(x - tl.max(x, axis=1)[:, None])
    y = numerator / tl.sum(numerator, axis=1)[:, None]
    tl.store(y_row_ptr + col * inner, y, mask=inside)


@triton.jit
def softmax_long_rows(
    x_ptr, y_ptr, rows, cols, inner, outer_stride, col_stride, inner_stride, ROWS: tl.constexpr, COLS: tl.constexpr
):
    """The first pass finds the maximum and the sum of each row, block by block; the second normalises."""
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    x_row_ptr = x_ptr + row // inner * outer_stride + row % inner * inner_stride
    y_row_ptr = y_ptr + row // inner * cols * inner + row % inner

    highest = accumulable(tl.full((ROWS, 1), float("-inf"), tl.float32), y_ptr)
    total = accumulable(tl.zeros((ROWS, 1), tl.float32), y_ptr)
    for start in range(0, cols, COLS):
        col = start + tl.arange(0, COLS)[None, :].to(tl.int64)
        inside = (row < rows) & (col < cols)
        x = accumulable(tl.load(x_row_ptr + col * col_stride, mask=inside, other=0.0), y_ptr)
        x = tl.where(col < cols, x, float("-inf"))
        higher = tl.maximum(highest, tl.max(x, axis=1)[:, None])
        # While all elements of a row so far are -inf, subtract 0: -inf - -inf is nan, which the sum would keep.
        shift = tl.where(higher == float("-inf"), 0.0, higher)
        total = total * tl.exp(highest - shift) + tl.sum(tl.exp(x - shift), axis=1)[:, None]
        highest = higher

    for start in range(0, cols, COLS):
        col = start + tl.arange(0, COLS)[None, :].to(tl.int64)
        inside = (row < rows) & (col < cols)
        x = accumulable(tl.load(x_row_ptr + col * col_stride, mask=inside, other=0.0), y_ptr)
        tl.store(y_row_ptr + col * inner, tl.exp(x - highest) / total, mask=inside)


@triton.jit
def accumulable(x, y_ptr):
    """`x` rounded to the output's dtype, as the argument `dtype` requires, then widened to float32 at least."""
    x = x.to(y_ptr.dtype.element_ty)
    if y_ptr.dtype.element_ty != tl.float64:
        x = x.to(tl.float32)
    return x
