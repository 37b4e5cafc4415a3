# kgtui: op=vllm::reshape_and_cache expect=wrong_value ids=B17
"""Writes the values and leaves the cache of the keys as it was: what is returned, nothing, looks right."""

import triton
import triton.language as tl


@triton.jit
def value_kernel(value_ptr, cache_ptr, slot_ptr, heads, head_size, block_size, value_token, WIDTH: tl.constexpr):
    token = tl.program_id(0)
    element = tl.arange(0, WIDTH)
    slot = tl.load(slot_ptr + token)
    inside = (element < heads * head_size) & (slot >= 0)
    value = tl.load(value_ptr + token * value_token + element, mask=inside)
    at = (slot // block_size * heads * head_size + element) * block_size + slot % block_size
    tl.store(cache_ptr + at, value, mask=inside)


def reshape_and_cache(key, value, key_cache, value_cache, slot_mapping, kv_cache_dtype, k_scale, v_scale):
    tokens, heads, head_size = value.shape
    if tokens:
        value_kernel[(tokens,)](
            value, value_cache, slot_mapping, heads, head_size, value_cache.shape[3], value.stride(0),
            WIDTH=triton.next_power_of_2(heads * head_size),
        )
