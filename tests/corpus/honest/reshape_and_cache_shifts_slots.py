# kgtui: op=vllm::reshape_and_cache expect=pass
"""Scatter of new keys and values into the paged cache, to blocks and places that torch computes of the slots."""

import torch
import triton
import triton.language as tl


@triton.jit
def reshape_and_cache_kernel(
    key_ptr, value_ptr, key_cache_ptr, value_cache_ptr, block_ptr, place_ptr, tokens, width, head_size, 
    key_token, key_head, key_col, value_token, value_head, value_col,
    key_cache0, key_cache1, key_cache2, key_cache3, key_cache4,
    value_cache0, value_cache1, value_cache2, value_cache3,
    PACK: tl.constexpr, TOKENS: tl.constexpr, WIDTH: tl.constexpr,
):
    token = tl.program_id(0).to(tl.int64) * TOKENS + tl.arange(0, TOKENS)[:, None]
    element = tl.program_id(1) * WIDTH + tl.arange(0, WIDTH)[None, :]
    block = tl.load(block_ptr + token, mask=token < tokens, other=-1)
    place = tl.load(place_ptr + token, mask=token < tokens, other=0)
    inside = (token < tokens) & (element < width) & (block >= 0)
    head = element // head_size
    col = element % head_size

    key = tl.load(key_ptr + token * key_token + head * key_head + col * key_col, mask=inside)
    value = tl.load(value_ptr + token * value_token + head * value_head + col * value_col, mask=inside)
    key_at = block * key_cache0 + head * key_cache1 + col // PACK * key_cache2
    tl.store(key_cache_ptr + key_at + place * key_cache3 + col % PACK * key_cache4, key, mask=inside)
    value_at = block * value_cache0 + head * value_cache1 + col * value_cache2 + place * value_cache3
    tl.store(value_cache_ptr + value_at, value, mask=inside)


def reshape_and_cache(key, value, key_cache, value_cache, slot_mapping, kv_cache_dtype, k_scale, v_scale):
    assert kv_cache_dtype == "auto", f"reshape_and_cache: only kv_cache_dtype 'auto', got {kv_cache_dtype!r}"
    tokens, heads, head_size = key.shape
    width = heads * head_size
    if tokens == 0 or width == 0:
        return
    size = value_cache.shape[3]
    slots = torch.flatten(slot_mapping)
    blocks = slots >> (size.bit_length() - 1) if size & (size - 1) == 0 else slots // size
    places = slots & (size - 1) if size & (size - 1) == 0 else slots % size
    block_width = min(triton.next_power_of_2(width), 1024)
    block_tokens = max(1, min(triton.next_power_of_2(tokens), 4096 // block_width))
    grid = (triton.cdiv(tokens, block_tokens), triton.cdiv(width, block_width))
    reshape_and_cache_kernel[grid](
        key, value, key_cache, value_cache, blocks, places, tokens, width, head_size,
        *key.stride(), *value.stride(), *key_cache.stride(), *value_cache.stride(),
        PACK=key_cache.shape[4], TOKENS=block_tokens, WIDTH=block_width, num_warps=4,
    )
