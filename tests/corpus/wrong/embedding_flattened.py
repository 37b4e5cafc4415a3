# kgtui: op=aten::embedding expect=wrong_shape
"""The indices are flattened and their shape is never restored."""

import torch
import triton
import triton.language as tl


@triton.jit
def embedding_kernel(weight_ptr, indices_ptr, y_ptr, count, width, ROWS: tl.constexpr, COLS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    col = tl.arange(0, COLS)[None, :]
    inside = (row < count) & (col < width)
    index = tl.load(indices_ptr + row, mask=row < count, other=0)
    tl.store(y_ptr + row * width + col, tl.load(weight_ptr + index * width + col, mask=inside), mask=inside)


def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    weight, flat = weight.contiguous(), indices.reshape(-1)
    count, width = flat.numel(), weight.shape[1]
    y = torch.empty((count, width), dtype=weight.dtype, device=weight.device)
    if y.numel():
        cols = triton.next_power_of_2(width)
        embedding_kernel[(triton.cdiv(count, 8),)](weight, flat, y, count, width, ROWS=8, COLS=cols)
    return y
