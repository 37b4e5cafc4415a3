# kgtui: op=vllm::concat_and_cache_mla expect=pass
"""Latent and rotary parts of a token written to its slot; fp8 codes are made of the bits of the quotient."""

import triton
import triton.language as tl


@triton.jit
def e4m3_code(x):
    """The code of a finite float32, to the nearest, saturated: rounding by an addition to the bits."""
    bits = x.to(tl.int32, bitcast=True)
    sign = (bits >> 24) & 0x80
    size = tl.minimum(tl.abs(x), 448.0)
    subnormal = (size * 512.0 + 12582912.0).to(tl.int32, bitcast=True) - 0x4B400000
    whole = size.to(tl.int32, bitcast=True)
    rounded = (whole + 0x7FFFF + ((whole >> 20) & 1)) >> 20
    normal = rounded - ((127 - 7) << 3)
    return (sign | tl.where(size < 0.015625, subnormal, normal)).to(tl.uint8)


@triton.jit
def cache_kernel(
    part_ptr, cache_ptr, slot_ptr, scale_ptr, width, first, block_size, part0, part1, cache0, cache1, cache2,
    slot_stride, FP8: tl.constexpr, WIDTH: tl.constexpr,
):
    token = tl.program_id(0).to(tl.int64)
    slot = tl.load(slot_ptr + token * slot_stride)
    if slot >= 0:
        col = tl.arange(0, WIDTH)
        value = tl.load(part_ptr + token * part0 + col * part1, mask=col < width)
        if FP8:
            value = e4m3_code(value.to(tl.float32) / tl.load(scale_ptr))
        at = slot // block_size * cache0 + slot % block_size * cache1 + (first + col) * cache2
        tl.store(cache_ptr + at, value, mask=col < width)


def concat_and_cache_mla(kv_c, k_pe, kv_cache, slot_mapping, kv_cache_dtype, scale):
    first = 0
    for part in (kv_c, k_pe):
        tokens, width = part.shape
        if tokens:
            cache_kernel[(tokens,)](
                part, kv_cache, slot_mapping, scale, width, first, kv_cache.shape[1], *part.stride(),
                *kv_cache.stride(), slot_mapping.stride(0), FP8=kv_cache_dtype != "auto",
                WIDTH=triton.next_power_of_2(width),
            )
        first += width
