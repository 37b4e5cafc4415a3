# kgtui: op=vllm::reshape_and_cache expect=wrong_value diagnosis=wrong_stride case="13x2x64 to 4x16 f16 padded"
"""Keys and values are read as if they were contiguous, but they may be parts of a wider projection."""

import triton
import triton.language as tl


@triton.jit
def cache_kernel(
    key_ptr, value_ptr, key_cache_ptr, value_cache_ptr, slot_ptr, width, block_size, PACK: tl.constexpr,
    WIDTH: tl.constexpr,
):
    token = tl.program_id(0).to(tl.int64)
    slot = tl.load(slot_ptr + token)
    element = tl.arange(0, WIDTH)
    inside = element < width
    key = tl.load(key_ptr + token * width + element, mask=inside)
    value = tl.load(value_ptr + token * width + element, mask=inside)
    place = slot % block_size
    block = slot // block_size
    key_at = (block * width + element - element % PACK) * block_size + place * PACK + element % PACK
    if slot >= 0:
        tl.store(key_cache_ptr + key_at, key, mask=inside)
        tl.store(value_cache_ptr + (block * width + element) * block_size + place, value, mask=inside)


def reshape_and_cache(key, value, key_cache, value_cache, slot_mapping, kv_cache_dtype, k_scale, v_scale):
    tokens, heads, head_size = key.shape
    if tokens:
        cache_kernel[(tokens,)](
            key, value, key_cache, value_cache, slot_mapping, heads * head_size, value_cache.shape[3],
            PACK=key_cache.shape[4], WIDTH=triton.next_power_of_2(heads * head_size),
        )
