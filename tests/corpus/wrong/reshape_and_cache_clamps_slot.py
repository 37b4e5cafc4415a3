# kgtui: op=vllm::reshape_and_cache expect=wrong_value|runtime_error|nonfinite diagnosis=race case="20x2x64 to 4x16 f16 20 skipped"
"""A negative slot means "skip this token", but here it is raised to 0, and whoever comes last is left there."""

import triton
import triton.language as tl


@triton.jit
def cache_kernel(
    key_ptr, value_ptr, key_cache_ptr, value_cache_ptr, slot_ptr, heads, head_size, block_size,
    key_token, key_head, value_token, value_head, PACK: tl.constexpr, COLS: tl.constexpr,
):
    token, head = tl.program_id(0).to(tl.int64), tl.program_id(1)
    slot = tl.maximum(tl.load(slot_ptr + token), 0)
    block, place = slot // block_size, slot % block_size
    col = tl.arange(0, COLS)
    inside = col < head_size
    key = tl.load(key_ptr + token * key_token + head * key_head + col, mask=inside)
    value = tl.load(value_ptr + token * value_token + head * value_head + col, mask=inside)
    row = (block * heads + head) * head_size
    key_at = (row + col // PACK * PACK) * block_size + place * PACK + col % PACK
    tl.store(key_cache_ptr + key_at, key, mask=inside)
    tl.store(value_cache_ptr + (row + col) * block_size + place, value, mask=inside)


def reshape_and_cache(key, value, key_cache, value_cache, slot_mapping, kv_cache_dtype, k_scale, v_scale):
    tokens, heads, head_size = key.shape
    if tokens:
        cache_kernel[(tokens, heads)](
            key, value, key_cache, value_cache, slot_mapping, heads, head_size, value_cache.shape[3],
            *key.stride()[:2], *value.stride()[:2], PACK=key_cache.shape[4], COLS=triton.next_power_of_2(head_size),
        )
