# kgtui: op=vllm::cutlass_pack_scale_fp8 expect=pass
"""Multiples of e4m3 scales: codes become float32 by their bits, products become codes by an addition to theirs."""

import torch
import triton
import triton.language as tl


@triton.jit
def e4m3_value(code):
    """The number of a code, by a float16 of the same mantissa; NaN for the last code of either sign."""
    bits = ((code & 0x80) << 8) | ((code & 0x7F) << 7)
    value = bits.to(tl.int16).to(tl.float16, bitcast=True).to(tl.float32) * 256.0
    return tl.where((code & 0x7F) == 0x7F, float("nan"), value)


@triton.jit
def e4m3_code(x):
    """The code of a float32, to the nearest, saturated; NaN has all bits of the exponent and mantissa."""
    sign = (x.to(tl.int32, bitcast=True) >> 24) & 0x80
    size = tl.minimum(tl.abs(x), 448.0)
    subnormal = (size * 512.0 + 12582912.0).to(tl.int32, bitcast=True) - 0x4B400000
    whole = size.to(tl.int32, bitcast=True)
    normal = ((whole + 0x7FFFF + ((whole >> 20) & 1)) >> 20) - ((127 - 7) << 3)
    code = tl.where(size < 0.015625, subnormal, normal)
    return (sign | tl.where(x != x, 0x7F, code)).to(tl.uint8)


@triton.jit
def pack_kernel(scale_ptr, out_ptr, count, cols, scale0, scale1, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = (i < count)[:, None]
    code = tl.load(scale_ptr + i // cols * scale0 + i % cols * scale1, mask=i < count, other=0).to(tl.int32)
    j = tl.arange(0, 8)[None, :]
    product = e4m3_value(code)[:, None] * (j - 8).to(tl.float32)
    tl.store(out_ptr + 8 * i[:, None] + j, e4m3_code(product), mask=inside)


def cutlass_pack_scale_fp8(scales):
    out = torch.empty(8 * scales.numel(), dtype=scales.dtype, device=scales.device)
    if out.numel():
        pack_kernel[(triton.cdiv(scales.numel(), 128),)](
            scales.view(torch.uint8), out.view(torch.uint8), scales.numel(), scales.shape[1], *scales.stride(), BLOCK=128
        )
    return out
