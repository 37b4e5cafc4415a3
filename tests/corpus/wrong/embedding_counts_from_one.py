# kgtui: op=aten::embedding expect=wrong_value diagnosis=wrong_stride case="11x33[8] f32"
"""Rows are counted from one: index 1 gets the first row of the table, and so does index 0."""

import torch
import triton
import triton.language as tl


@triton.jit
def embedding_kernel(weight_ptr, indices_ptr, y_ptr, width, weight_row, weight_col, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    index = tl.maximum(tl.load(indices_ptr + row).to(tl.int64) - 1, 0)
    for start in range(0, width, COLS):
        col = start + tl.arange(0, COLS)
        w = tl.load(weight_ptr + index * weight_row + col * weight_col, mask=col < width)
        tl.store(y_ptr + row * width + col, w, mask=col < width)


def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    width = weight.shape[1]
    y = torch.empty((*indices.shape, width), dtype=weight.dtype, device=weight.device)
    if y.numel():
        embedding_kernel[(indices.numel(),)](weight, indices.contiguous(), y, width, *weight.stride(), COLS=1024)
    return y
