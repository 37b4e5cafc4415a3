# kgtui: op=vllm::scaled_fp8_quant expect=pass
"""Rows quantised to fp8: the largest magnitude of each row first, of all rows where there is one scale, then codes."""

import torch
import triton
import triton.language as tl


@triton.jit
def e4m3_code(x):
    """The code of a float32, to the nearest, saturated: rounding by an addition to the bits."""
    sign = (x.to(tl.int32, bitcast=True) >> 24) & 0x80
    size = tl.minimum(tl.abs(x), 448.0)
    subnormal = (size * 512.0 + 12582912.0).to(tl.int32, bitcast=True) - 0x4B400000
    whole = size.to(tl.int32, bitcast=True)
    normal = ((whole + 0x7FFFF + ((whole >> 20) & 1)) >> 20) - ((127 - 7) << 3)
    return (sign | tl.where(size < 0.015625, subnormal, normal)).to(tl.uint8)


@triton.jit
def row_scale_kernel(x_ptr, scale_ptr, bound_ptr, cols, x_row, x_col, least, BOUND: tl.constexpr, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, COLS).to(tl.int64)
    x = tl.load(x_ptr + row * x_row + col * x_col, mask=col < cols, other=0.0).to(tl.float32)
    largest = tl.max(tl.abs(x), axis=0)
    if BOUND:
        largest = tl.minimum(largest, tl.load(bound_ptr))
    tl.store(scale_ptr + row, tl.maximum(largest / 448.0, least))


@triton.jit
def largest_kernel(values_ptr, out_ptr, count, COUNT: tl.constexpr):
    place = tl.arange(0, COUNT)
    tl.store(out_ptr, tl.max(tl.load(values_ptr + place, mask=place < count, other=0.0), axis=0))


@triton.jit
def quantise_kernel(x_ptr, q_ptr, scale_ptr, cols, x_row, x_col, scale_row, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, COLS).to(tl.int64)
    x = tl.load(x_ptr + row * x_row + col * x_col, mask=col < cols, other=0.0).to(tl.float32)
    tl.store(q_ptr + row * cols + col, e4m3_code(x / tl.load(scale_ptr + row * scale_row)), mask=col < cols)


def scaled_fp8_quant(
    input, scale=None, num_token_padding=None, scale_ub=None, use_per_token_if_dynamic=False, output=None
):
    rows, cols = input.shape
    q = torch.empty((max(rows, num_token_padding or 0), cols), dtype=torch.uint8, device=input.device)
    q[rows:] = 0
    width, per_row = triton.next_power_of_2(cols), 0
    if scale is None:
        scale = torch.empty((rows, 1), dtype=torch.float32, device=input.device)
        least = 1 / (448 * 512) if use_per_token_if_dynamic else 0.0
        row_scale_kernel[(rows,)](
            input, scale, scale if scale_ub is None else scale_ub, cols, *input.stride(), least,
            BOUND=scale_ub is not None, COLS=width,
        )
        per_row = 1
        if not use_per_token_if_dynamic:
            scales, scale, per_row = scale, torch.empty(1, dtype=torch.float32, device=input.device), 0
            largest_kernel[(1,)](scales, scale, rows, COUNT=triton.next_power_of_2(rows))
    quantise_kernel[(rows,)](input, q, scale, cols, *input.stride(), per_row, COLS=width)
    return q.view(torch.float8_e4m3fn), scale
