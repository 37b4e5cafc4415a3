# kgtui: op=vllm::reshape_and_cache expect=wrong_value diagnosis=wrong_stride case="11x2x64 to 4x16 f16 only values padded"
"""Steps through the values as far from token to token as through the keys."""

import torch
import triton
import triton.language as tl


@triton.jit
def scatter_kernel(
    key_ptr, value_ptr, key_cache_ptr, value_cache_ptr, slot_ptr, width, head_size, block_size, token_stride,
    PACK: tl.constexpr, WIDTH: tl.constexpr,
):
    token = tl.program_id(0).to(tl.int64)
    element = tl.arange(0, WIDTH)
    slot = tl.load(slot_ptr + token)
    inside = (element < width) & (slot >= 0)
    key = tl.load(key_ptr + token * token_stride + element, mask=inside)
    value = tl.load(value_ptr + token * token_stride + element, mask=inside)
    place = slot % block_size
    group = slot // block_size * (width // PACK) + element // PACK
    tl.store(key_cache_ptr + (group * block_size + place) * PACK + element % PACK, key, mask=inside)
    tl.store(value_cache_ptr + (slot // block_size * width + element) * block_size + place, value, mask=inside)


def reshape_and_cache(key, value, key_cache, value_cache, slot_mapping, kv_cache_dtype, k_scale, v_scale):
    tokens, heads, head_size = key.shape
    if tokens:
        scatter_kernel[(tokens,)](
            key, value, key_cache, value_cache, slot_mapping, heads * head_size, head_size, value_cache.shape[3],
            key.stride(0), PACK=key_cache.shape[4], WIDTH=triton.next_power_of_2(heads * head_size),
        )
