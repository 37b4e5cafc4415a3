# kgtui: op=vllm::permute_cols expect=pass
"""Columns gathered by a permutation, a block of rows and columns per program."""

import torch
import triton
import triton.language as tl


@triton.jit
def permute_cols_kernel(a_ptr, perm_ptr, out_ptr, rows, cols, a_row, a_col, perm_stride, ROWS: tl.constexpr, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    col = tl.program_id(1) * COLS + tl.arange(0, COLS)
    source = tl.load(perm_ptr + col * perm_stride, mask=col < cols, other=0)[None, :]
    inside = (row < rows) & (col[None, :] < cols)
    value = tl.load(a_ptr + row * a_row + source * a_col, mask=inside)
    tl.store(out_ptr + row * cols + col[None, :], value, mask=inside)


def permute_cols(a, perm):
    rows, cols = a.shape
    out = torch.empty((rows, cols), dtype=a.dtype, device=a.device)
    if out.numel() == 0:
        return out
    width = min(triton.next_power_of_2(cols), 512)
    height = max(1, min(triton.next_power_of_2(rows), 2048 // width))
    grid = (triton.cdiv(rows, height), triton.cdiv(cols, width))
    permute_cols_kernel[grid](a, perm, out, rows, cols, *a.stride(), perm.stride(0), ROWS=height, COLS=width)
    return out
