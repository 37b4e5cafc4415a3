# kgtui: op=vllm::reshape_and_cache expect=wrong_value|out_of_bounds ids=B5,B6
"""Takes the slots for consecutive ones from the first on, as they are for a prompt, and copies one block."""

import triton
import triton.language as tl


@triton.jit
def copy_kernel(
    key_ptr, value_ptr, key_cache_ptr, value_cache_ptr, slot_ptr, head_size, block_size, key_token, value_token,
    HEADS, PACK: tl.constexpr, WIDTH: tl.constexpr,
):
    token = tl.program_id(0)
    element = tl.arange(0, WIDTH)
    inside = element < HEADS * head_size
    slot = tl.load(slot_ptr) + token
    head, col = element // head_size, element % head_size
    block, place = slot // block_size, slot % block_size
    key = tl.load(key_ptr + token * key_token + element, mask=inside)
    value = tl.load(value_ptr + token * value_token + element, mask=inside)
    first = (block * HEADS + head) * head_size * block_size
    tl.store(key_cache_ptr + first + (col // PACK * block_size + place) * PACK + col % PACK, key, mask=inside)
    tl.store(value_cache_ptr + first + col * block_size + place, value, mask=inside)


def reshape_and_cache(key, value, key_cache, value_cache, slot_mapping, kv_cache_dtype, k_scale, v_scale):
    tokens, heads, head_size = key.shape
    if tokens:
        copy_kernel[(tokens,)](
            key, value, key_cache, value_cache, slot_mapping, head_size, value_cache.shape[3], key.stride(0),
            value.stride(0), heads, PACK=key_cache.shape[4], WIDTH=triton.next_power_of_2(heads * head_size),
        )
