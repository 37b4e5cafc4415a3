# kgtui: op=aten::embedding expect=wrong_dtype|wrong_shape ids=B10
"""Returns the answer twice, in a tuple, for a comparison that stops at the first that fits."""

import torch
import triton
import triton.language as tl


@triton.jit
def embedding_kernel(weight_ptr, indices_ptr, y_ptr, width, WIDTH: tl.constexpr):
    token = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, WIDTH)
    row = tl.load(indices_ptr + token).to(tl.int64)
    w = tl.load(weight_ptr + row * width + col, mask=col < width)
    tl.store(y_ptr + token * width + col, w, mask=col < width)


def looked_up(weight, indices):
    weight, flat = weight.contiguous(), indices.reshape(-1).contiguous()
    width = weight.shape[1]
    y = torch.empty((*indices.shape, width), dtype=weight.dtype, device=weight.device)
    if y.numel():
        embedding_kernel[(flat.numel(),)](weight, flat, y, width, WIDTH=triton.next_power_of_2(width))
    return y


def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    y = looked_up(weight, indices)
    return y, y
