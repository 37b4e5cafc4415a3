# kgtui: op=vllm::scaled_int8_quant expect=wrong_value diagnosis=missing_scale case="7x497 f32 symmetric true static false"
"""The absolute values, which only the scale is made of, are quantised too, under the same name."""

import torch
import triton
import triton.language as tl


@triton.jit
def nearest(x):
    """To the nearest integer, ties to even, of numbers below 2 ** 22."""
    return (x + 12582912.0) - 12582912.0


@triton.jit
def quantise_kernel(
    x_ptr, q_ptr, scale_ptr, azp_ptr, cols, x_row, x_col, STATIC: tl.constexpr, SYMMETRIC: tl.constexpr,
    COLS: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, COLS).to(tl.int64)
    inside = col < cols
    x = tl.load(x_ptr + row * x_row + col * x_col, mask=inside, other=0.0).to(tl.float32)
    zero = 0.0
    if SYMMETRIC:
        x = tl.abs(x)
    if STATIC:
        scale = tl.load(scale_ptr)
        if not SYMMETRIC:
            zero = tl.load(azp_ptr).to(tl.float32)
    elif SYMMETRIC:
        scale = tl.max(x, axis=0) / 127.0
        tl.store(scale_ptr + row, scale)
    else:
        least = tl.min(tl.where(inside, x, float("inf")), axis=0)
        largest = tl.max(tl.where(inside, x, float("-inf")), axis=0)
        scale = (largest - least) / 255.0
        zero = nearest(-128.0 - least / scale)
        tl.store(scale_ptr + row, scale)
        tl.store(azp_ptr + row, zero.to(tl.int32))
    quotient = tl.where(scale == 0, 0.0, x / scale)
    quotient = tl.minimum(tl.maximum(quotient, -1000000.0), 1000000.0)
    level = tl.minimum(tl.maximum(nearest(quotient) + zero, -128.0), 127.0)
    tl.store(q_ptr + row * cols + col, level.to(tl.int8), mask=inside)


def scaled_int8_quant(input, scale=None, azp=None, symmetric=True):
    rows, cols = input.shape
    q = torch.empty((rows, cols), dtype=torch.int8, device=input.device)
    scales = torch.empty((rows, 1), dtype=torch.float32, device=input.device) if scale is None else scale
    zeros = azp
    if scale is None and not symmetric:
        zeros = torch.empty((rows, 1), dtype=torch.int32, device=input.device)
    if q.numel():
        quantise_kernel[(rows,)](
            input, q, scales, q if zeros is None else zeros, cols, *input.stride(), STATIC=scale is not None,
            SYMMETRIC=zeros is None, COLS=triton.next_power_of_2(cols),
        )
    return (q, scales) if zeros is None else (q, scales, zeros)
