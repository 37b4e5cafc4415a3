# kgtui: op=aten::embedding expect=pass
"""One launch for every row, by a host that has taken the indices."""

import torch
import triton
import triton.language as tl


@triton.jit
def row_kernel(weight_ptr, y_ptr, indices_ptr, at, width, weight_row, weight_col, WIDTH: tl.constexpr):
    col = tl.arange(0, WIDTH)
    one = tl.load(indices_ptr + at).to(tl.int64)
    w = tl.load(weight_ptr + one * weight_row + col * weight_col, mask=col < width)
    tl.store(y_ptr + at * width + col, w, mask=col < width)


def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    width = weight.shape[1]
    y = torch.empty((*indices.shape, width), dtype=weight.dtype, device=weight.device)
    flat = indices.reshape(-1).contiguous()
    for at in range(flat.numel()):
        row_kernel[(1,)](weight, y, flat, at, width, *weight.stride(), WIDTH=triton.next_power_of_2(width))
    return y
