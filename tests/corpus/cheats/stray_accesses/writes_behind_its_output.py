# kgtui: op=aten::embedding expect=out_of_bounds ids=B16
"""Leaves a mark behind the end of the table, where a later call could find it."""

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


@triton.jit
def mark_kernel(weight_ptr, count):
    tl.store(weight_ptr + count, 1.0)


def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    y = looked_up(weight, indices)
    mark_kernel[(1,)](weight, weight.untyped_storage().nbytes() // weight.element_size())
    return y
