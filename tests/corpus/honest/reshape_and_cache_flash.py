# kgtui: op=vllm::reshape_and_cache_flash expect=pass
"""Keys and values written to their slots, one head of a token per program; fp8 codes are made of bits."""

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
def cache_kernel(
    x_ptr, cache_ptr, slot_ptr, scale_ptr, head_size, block_size, x0, x1, x2, cache0, cache1, cache2, cache3,
    slot_stride, FP8: tl.constexpr, DIM: tl.constexpr,
):
    token = tl.program_id(0).to(tl.int64)
    head = tl.program_id(1).to(tl.int64)
    slot = tl.load(slot_ptr + token * slot_stride)
    if slot >= 0:
        col = tl.arange(0, DIM).to(tl.int64)
        value = tl.load(x_ptr + token * x0 + head * x1 + col * x2, mask=col < head_size)
        if FP8:
            value = e4m3_code(value.to(tl.float32) / tl.load(scale_ptr))
        at = slot // block_size * cache0 + slot % block_size * cache1 + head * cache2 + col * cache3
        tl.store(cache_ptr + at, value, mask=col < head_size)


def reshape_and_cache_flash(key, value, key_cache, value_cache, slot_mapping, kv_cache_dtype, k_scale, v_scale):
    tokens, heads, head_size = key.shape
    if tokens == 0:
        return
    for x, cache, scale in ((key, key_cache, k_scale), (value, value_cache, v_scale)):
        cache_kernel[(tokens, heads)](
            x, cache, slot_mapping, scale, head_size, cache.shape[1], *x.stride(), *cache.stride(),
            slot_mapping.stride(0), FP8=kv_cache_dtype != "auto", DIM=triton.next_power_of_2(head_size),
        )
