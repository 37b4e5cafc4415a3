# kgtui: op=aten::embedding expect=out_of_bounds|wrong_value diagnosis=not_reached
"""The offset of a row is computed in 16 bits, which overflow in a table of more than 32767 elements."""

import torch
import triton
import triton.language as tl


@triton.jit
def embedding_kernel(weight_ptr, indices_ptr, y_ptr, width, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, COLS)
    first = (tl.load(indices_ptr + row) * width).to(tl.int16)
    w = tl.load(weight_ptr + first + col, mask=col < width)
    tl.store(y_ptr + row * width + col, w, mask=col < width)


def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    weight, indices = weight.contiguous(), indices.contiguous()
    width = weight.shape[1]
    y = torch.empty((*indices.shape, width), dtype=weight.dtype, device=weight.device)
    if y.numel():
        embedding_kernel[(indices.numel(),)](weight, indices, y, width, COLS=triton.next_power_of_2(width))
    return y
