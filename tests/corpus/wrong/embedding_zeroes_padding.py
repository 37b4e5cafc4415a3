# kgtui: op=aten::embedding expect=wrong_value diagnosis=zeroed case="8x65[31] f32 padding 1"
"""Rows of padding_idx come out as zeros, but padding concerns the gradient only."""

import torch
import triton
import triton.language as tl


@triton.jit
def embedding_kernel(weight_ptr, indices_ptr, y_ptr, width, padding, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, COLS)
    index = tl.load(indices_ptr + row).to(tl.int64)
    w = tl.load(weight_ptr + index * width + col, mask=col < width, other=0.0)
    tl.store(y_ptr + row * width + col, tl.where(index == padding, 0.0, w), mask=col < width)


def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    weight, indices = weight.contiguous(), indices.contiguous()
    width = weight.shape[1]
    y = torch.empty((*indices.shape, width), dtype=weight.dtype, device=weight.device)
    if y.numel():
        cols = triton.next_power_of_2(width)
        embedding_kernel[(indices.numel(),)](weight, indices, y, width, padding_idx, COLS=cols)
    return y
