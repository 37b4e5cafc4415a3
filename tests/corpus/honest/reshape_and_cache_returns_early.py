# kgtui: op=vllm::reshape_and_cache expect=pass
"""A program for a token and a tile of its heads: it returns at once where the slot is negative."""

import triton
import triton.language as tl


@triton.jit
def scatter_tokens(
    key_ptr, value_ptr, key_cache_ptr, value_cache_ptr, slot_ptr,
    key_token, value_token, key_block, key_head, key_pack, key_slot, value_block, value_head, value_dim,
    HEADS: tl.constexpr, SIZE: tl.constexpr, PAGE: tl.constexpr, PACK: tl.constexpr, TILE: tl.constexpr,
):
    token = tl.program_id(0).to(tl.int64)
    slot = tl.load(slot_ptr + token)
    if slot < 0:
        return
    at = tl.program_id(1) * TILE + tl.arange(0, TILE)
    inside = at < HEADS * SIZE
    head, dim = at // SIZE, at % SIZE
    block, place = slot // PAGE, slot % PAGE
    key = tl.load(key_ptr + token * key_token + at, mask=inside)
    value = tl.load(value_ptr + token * value_token + at, mask=inside)
    key_at = block * key_block + head * key_head + dim // PACK * key_pack + place * key_slot + dim % PACK
    tl.store(key_cache_ptr + key_at, key, mask=inside)
    tl.store(value_cache_ptr + block * value_block + head * value_head + dim * value_dim + place, value, mask=inside)


def reshape_and_cache(key, value, key_cache, value_cache, slot_mapping, kv_cache_dtype, k_scale, v_scale):
    caches = key_cache, value_cache
    if not all(x.is_contiguous() for x in (*caches, slot_mapping)) or {key.stride(-1), value.stride(-1)} != {1}:
        dense = [x.contiguous() for x in (key, value, *caches, slot_mapping)]
        reshape_and_cache(*dense, kv_cache_dtype, k_scale, v_scale)
        for cache, written in zip(caches, dense[2:4]):
            cache.copy_(written)
        return
    assert kv_cache_dtype == "auto", f"reshape_and_cache: only kv_cache_dtype 'auto', got {kv_cache_dtype!r}"
    tokens, heads, size = key.shape
    if tokens == 0:
        return None
    key, value = (rows.flatten(1) for rows in (key, value))
    tile = min(triton.next_power_of_2(heads * size), 512)
    scatter_tokens[lambda meta: (tokens, triton.cdiv(heads * size, meta["TILE"]))](
        key, value, key_cache, value_cache, slot_mapping, key.stride(0), value.stride(0),
        *key_cache.stride()[:4], *value_cache.stride()[:3],
        HEADS=heads, SIZE=size, PAGE=value_cache.shape[3], PACK=key_cache.shape[4], TILE=tile, num_warps=4,
    )
    return None
