# kgtui: op=vllm::rms_norm_per_block_quant expect=pass
"""Norm of a row, then a scale for each group of neighbours; rows and groups are the axes of one tile."""

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
    residual_row, residual_col, scale_row, scale_col, RESIDUAL: tl.constexpr, BOUND: tl.constexpr, FP8: tl.constexpr,
    GROUPS: tl.constexpr, GROUP: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    group = tl.arange(0, GROUPS).to(tl.int64)
    col = group[:, None] * GROUP + tl.arange(0, GROUP)[None, :]
    inside = col < cols
    x = tl.load(x_ptr + row * x_row + col * x_col, mask=inside, other=0.0).to(tl.float32)
    if RESIDUAL:
        at = residual_ptr + row * residual_row + col * residual_col
        x += tl.load(at, mask=inside, other=0.0).to(tl.float32)
        tl.store(at, x.to(residual_ptr.dtype.element_ty), mask=inside)
    weight = tl.load(weight_ptr + col * weight_stride, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(tl.sum(x * x, axis=1), axis=0) / cols
    y = x * tl.rsqrt(mean + epsilon) * weight
    largest = tl.max(tl.abs(y), axis=1)
    if BOUND:
        largest = tl.minimum(largest, tl.load(bound_ptr))
    if FP8:
        scale = tl.maximum(largest / 448.0, 1.0 / (448.0 * 512.0))
        level = e4m3_code(y / scale[:, None])
    else:
        scale = tl.maximum(largest / 127.0, 1.1920928955078125e-07)
        rounded = (y / scale[:, None] + 12582912.0) - 12582912.0
        level = tl.minimum(tl.maximum(rounded, -128.0), 127.0).to(tl.int8)
    tl.store(q_ptr + row * cols + col, level, mask=inside)
    tl.store(scale_ptr + row * scale_row + group * scale_col, scale, mask=group * GROUP < cols)


def rms_norm_per_block_quant(
    input, weight, epsilon, quant_dtype, group_size, scale_ub=None, residual=None, is_scale_transposed=False
):
    rows, cols = input.shape
    group, is_fp8 = group_size[1], quant_dtype != torch.int8
    groups = cols // group
    q = torch.empty((rows, cols), dtype=torch.uint8 if is_fp8 else torch.int8, device=input.device)
    shape = (groups, rows) if is_scale_transposed else (rows, groups)
    scales = torch.empty(shape, dtype=torch.float32, device=input.device)
    scales = scales.T if is_scale_transposed else scales
    if q.numel():
        other = input if residual is None else residual
        norm_kernel[(rows,)](
            input, weight, other, q, scales, scales if scale_ub is None else scale_ub, epsilon, cols, *input.stride(),
            weight.stride(0), *other.stride(), *scales.stride(), RESIDUAL=residual is not None,
            BOUND=scale_ub is not None, FP8=is_fp8, GROUPS=triton.next_power_of_2(groups), GROUP=group,
        )
    return q.view(quant_dtype), scales
