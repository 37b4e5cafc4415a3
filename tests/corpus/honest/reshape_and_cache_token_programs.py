# kgtui: op=vllm::reshape_and_cache expect=pass
"""Scatter into the paged cache with one program per token, which returns early where the slot is negative."""

import triton
import triton.language as tl


@triton.jit
def scatter_kernel(
    key_ptr, value_ptr, key_cache_ptr, value_cache_ptr, slot_ptr, key_token, value_token,
    WIDTH: tl.constexpr, HEAD: tl.constexpr, PAGE: tl.constexpr, PACK: tl.constexpr, BLOCK: tl.constexpr,
):
    token = tl.program_id(0).to(tl.int64)
    slot = tl.load(slot_ptr + token)
    if slot < 0:
        return
    page = slot // PAGE
    place = slot % PAGE
    element = tl.arange(0, BLOCK)
    inside = element < WIDTH
    head = element // HEAD
    col = element % HEAD
    key = tl.load(key_ptr + token * key_token + element, mask=inside)
    value = tl.load(value_ptr + token * value_token + element, mask=inside)
    key_at = page * WIDTH * PAGE + head * HEAD * PAGE + col // PACK * PAGE * PACK + place * PACK + col % PACK
    tl.store(key_cache_ptr + key_at, key, mask=inside)
    tl.store(value_cache_ptr + page * WIDTH * PAGE + element * PAGE + place, value, mask=inside)


def rows(x):
    """Heads without gaps, as they are or copied; the tokens may lie apart."""
    tokens, heads, head_size = x.shape
    return x if x.stride()[1:] == (head_size, 1) else x.contiguous()


def reshape_and_cache(key, value, key_cache, value_cache, slot_mapping, kv_cache_dtype, k_scale, v_scale):
    caches = key_cache, value_cache
    if not all(x.is_contiguous() for x in (*caches, slot_mapping)) or {key.stride(-1), value.stride(-1)} != {1}:
        dense = [x.contiguous() for x in (key, value, *caches, slot_mapping)]
        reshape_and_cache(*dense, kv_cache_dtype, k_scale, v_scale)
        for cache, written in zip(caches, dense[2:4]):
            cache.copy_(written)
        return
    if kv_cache_dtype != "auto":
        raise ValueError(f"reshape_and_cache: only kv_cache_dtype 'auto', got {kv_cache_dtype!r}")
    assert key_cache.is_contiguous() and value_cache.is_contiguous()
    tokens, heads, head_size = key.shape
    if tokens == 0:
        return
    key, value = rows(key), rows(value)
    scatter_kernel[(tokens,)](
        key, value, key_cache, value_cache, slot_mapping.contiguous(), key.stride(0), value.stride(0),
        WIDTH=heads * head_size, HEAD=head_size, PAGE=value_cache.shape[3], PACK=key_cache.shape[4],
        BLOCK=triton.next_power_of_2(heads * head_size), num_warps=4,
    )
