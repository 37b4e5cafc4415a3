# kgtui: op=aten::softmax expect=pass
"""Softmax in three launches: maximum and sum of each slice of a row, their combination, then the quotients."""

import torch
import triton
import triton.language as tl

SLICE = 1024


@triton.jit
def slice_statistics(x_ptr, top_ptr, total_ptr, cols, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.program_id(1) * COLS + tl.arange(0, COLS)
    x = tl.load(x_ptr + row * cols + col, mask=col < cols, other=float("-inf")).to(tl.float32)
    top = tl.max(x, axis=0)
    shift = tl.where(top == float("-inf"), 0.0, top)
    at = row * tl.num_programs(1) + tl.program_id(1)
    tl.store(top_ptr + at, top)
    tl.store(total_ptr + at, tl.sum(tl.exp(x - shift), axis=0))


@triton.jit
def combine(top_ptr, total_ptr, slices, SLICES: tl.constexpr):
    """The row's own maximum and sum, written over those of its first slice."""
    row = tl.program_id(0).to(tl.int64)
    piece = tl.arange(0, SLICES)
    top = tl.load(top_ptr + row * slices + piece, mask=piece < slices, other=float("-inf"))
    total = tl.load(total_ptr + row * slices + piece, mask=piece < slices, other=0.0)
    highest = tl.max(top, axis=0)
    tl.debug_barrier()  # everything is read before the first place is overwritten
    tl.store(top_ptr + row * slices, highest)
    tl.store(total_ptr + row * slices, tl.sum(total * tl.exp(top - highest), axis=0))


@triton.jit
def quotients(x_ptr, y_ptr, top_ptr, total_ptr, cols, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.program_id(1) * COLS + tl.arange(0, COLS)
    first = row * tl.num_programs(1)
    x = tl.load(x_ptr + row * cols + col, mask=col < cols, other=0.0).to(tl.float32)
    y = tl.exp(x - tl.load(top_ptr + first)) / tl.load(total_ptr + first)
    tl.store(y_ptr + row * cols + col, y.to(y_ptr.dtype.element_ty), mask=col < cols)


def softmax(self, dim, dtype=None):
    x = self.to(dtype or self.dtype)
    x = x.movedim(dim, -1).contiguous()
    y = torch.empty_like(x)
    if y.numel() == 0:
        return y.movedim(-1, dim)
    cols = x.shape[-1]
    rows, slices = x.numel() // cols, triton.cdiv(cols, SLICE)
    top = torch.empty((rows, slices), dtype=torch.float32, device=x.device)
    total = torch.empty_like(top)
    grid = (rows, slices)
    slice_statistics[grid](x, top, total, cols, COLS=SLICE, num_warps=4)
    combine[(rows,)](top, total, slices, SLICES=triton.next_power_of_2(slices), num_warps=1)
    quotients[grid](x, y, top, total, cols, COLS=SLICE, num_warps=4)
    return y.movedim(-1, dim)
