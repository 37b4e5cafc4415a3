# kgtui: op=aten::unsafe_split_with_sizes expect=pass
"""One launch a chunk: a block of rows and columns of self, seen as a matrix, is copied to new memory."""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def chunk_kernel(x_ptr, y_ptr, rows, cols, x_row, first, ROWS: tl.constexpr, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    col = tl.program_id(1).to(tl.int64) * COLS + tl.arange(0, COLS)[None, :]
    inside = (row < rows) & (col < cols)
    tl.store(y_ptr + row * cols + col, tl.load(x_ptr + row * x_row + first + col, mask=inside), mask=inside)


def unsafe_split_with_sizes(self, split_sizes, dim=0):
    dim %= self.dim()
    x = self.contiguous()
    words = 2 if x.is_complex() else 1
    rows, inner = math.prod(x.shape[:dim]), math.prod(x.shape[dim + 1 :]) * words
    chunks, first = [], 0
    for size in split_sizes:
        y = torch.empty((*x.shape[:dim], size, *x.shape[dim + 1 :]), dtype=x.dtype, device=x.device)
        if y.numel():
            cols = size * inner
            height, width = (16, 64) if rows > 1 else (1, 1024)
            chunk_kernel[(triton.cdiv(rows, height), triton.cdiv(cols, width))](
                in_words(x), in_words(y), rows, cols, x.shape[dim] * inner, first, ROWS=height, COLS=width
            )
        chunks.append(y)
        first += size * inner
    return chunks


def in_words(x):
    """Complex numbers as pairs, booleans as bytes, others as they are: nothing is computed with them."""
    return torch.view_as_real(x) if x.is_complex() else x.view(torch.int8) if x.dtype == torch.bool else x
