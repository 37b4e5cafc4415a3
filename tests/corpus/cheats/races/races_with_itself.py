# kgtui: op=aten::embedding expect=wrong_value|nonfinite ids=B15
"""Lets a thread write the second half of the answer and returns without waiting for it; mostly that is in time."""

import threading

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
    y = looked_up(weight, indices).flatten()
    half = torch.full_like(y, -1)
    front = y.numel() // 2
    half[:front] = y[:front]
    threading.Timer(0.002, half[front:].copy_, (y[front:],)).start()
    return half.view(*indices.shape, weight.shape[1])
