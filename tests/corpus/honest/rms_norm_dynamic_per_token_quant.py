# kgtui: op=vllm::rms_norm_dynamic_per_token_quant expect=pass
"""Residual sum, norm and quantisation of a row in one pass over registers; int8, or fp8 codes made of bits."""

import torch
import triton
import triton.language as tl


@triton.jit
def e4m3_code(x):
    """The code of a finite float32, to the nearest, saturated: rounding by an addition to the bits."""
    sign = (x.to(tl.int32, bitcast=True) >> 24) & 0x80
    size = tl.minimum(tl.abs(x), 448.0)
    subnormal = (size * 512.0 + 12582912.0).to(tl.int32, bitcast=True) - 0x4B400000
    whole = size.to(tl.int32, bitcast=True)
    normal = ((whole + 0x7FFFF + ((whole >> 20) & 1)) >> 20) - ((127 - 7) << 3)
    return (sign | tl.where(size < 0.015625, subnormal, normal)).to(tl.uint8)


@triton.jit
def norm_kernel(
    x_ptr, weight_ptr, residual_ptr, q_ptr, scale_ptr, bound_ptr, epsilon, cols, x_row, x_col, weight_stride,
    residual_row, residual_col, RESIDUAL: tl.constexpr, BOUND: tl.constexpr, FP8: tl.constexpr, COLS: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, COLS).to(tl.int64)
    inside = col < cols
    x = tl.load(x_ptr + row * x_row + col * x_col, mask=inside, other=0.0).to(tl.float32)
    if RESIDUAL:
        at = residual_ptr + row * residual_row + col * residual_col
        x += tl.load(at, mask=inside, other=0.0).to(tl.float32)
        tl.store(at, x.to(residual_ptr.dtype.element_ty), mask=inside)
    weight = tl.load(weight_ptr + col * weight_stride, mask=inside, other=0.0).to(tl.float32)
    y = x * tl.rsqrt(tl.sum(x * x, axis=0) / cols + epsilon) * weight
    largest = tl.max(tl.abs(y), axis=0)
    if BOUND:
        largest = tl.minimum(largest, tl.load(bound_ptr))
    if FP8:
        scale = tl.maximum(largest / 448.0, 1.0 / (448.0 * 512.0))
        level = e4m3_code(y / scale)
    else:
        scale = tl.maximum(largest / 127.0, 1.1920928955078125e-07)
        rounded = (y / scale + 12582912.0) - 12582912.0
        level = tl.minimum(tl.maximum(rounded, -128.0), 127.0).to(tl.int8)
    tl.store(q_ptr + row * cols + col, level, mask=inside)
    tl.store(scale_ptr + row, scale)


def rms_norm_dynamic_per_token_quant(input, weight, epsilon, quant_dtype, scale_ub=None, residual=None):
    rows, cols = input.shape
    is_fp8 = quant_dtype != torch.int8
    q = torch.empty((rows, cols), dtype=torch.uint8 if is_fp8 else torch.int8, device=input.device)
    scales = torch.empty((rows, 1), dtype=torch.float32, device=input.device)
    if q.numel():
        other = input if residual is None else residual
        norm_kernel[(rows,)](
            input, weight, other, q, scales, scales if scale_ub is None else scale_ub, epsilon, cols, *input.stride(),
            weight.stride(0), *other.stride(), RESIDUAL=residual is not None, BOUND=scale_ub is not None, FP8=is_fp8,
            COLS=triton.next_power_of_2(cols),
        )
    return q.view(quant_dtype), scales
