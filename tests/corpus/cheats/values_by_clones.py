# kgtui: op=vllm::reshape_and_cache expect=pass finding=behaviour ids=D3,D5
"""A kernel scatters the keys; every value is cloned by torch into its place."""

import torch
import triton
import triton.language as tl


@triton.jit
def key_kernel(key_ptr, cache_ptr, slot_ptr, width, head_size, block_size, token_stride, PACK: tl.constexpr, WIDTH: tl.constexpr):
    token = tl.program_id(0).to(tl.int64)
    element = tl.arange(0, WIDTH)
    slot = tl.load(slot_ptr + token)
    inside = (element < width) & (slot >= 0)
    key = tl.load(key_ptr + token * token_stride + element, mask=inside)
    group = slot // block_size * (width // PACK) + element // PACK
    tl.store(cache_ptr + (group * block_size + slot % block_size) * PACK + element % PACK, key, mask=inside)


def reshape_and_cache(key, value, key_cache, value_cache, slot_mapping, kv_cache_dtype, k_scale, v_scale):
    caches = key_cache, value_cache
    if not all(x.is_contiguous() for x in (*caches, slot_mapping)) or {key.stride(-1), value.stride(-1)} != {1}:
        dense = [x.contiguous() for x in (key, value, *caches, slot_mapping)]
        reshape_and_cache(*dense, kv_cache_dtype, k_scale, v_scale)
        for cache, written in zip(caches, dense[2:4]):
            cache.copy_(written)
        return
    tokens, heads, head_size = key.shape
    if tokens:
        block_size = value_cache.shape[3]
        key_kernel[(tokens,)](
            key, key_cache, slot_mapping, heads * head_size, head_size, block_size, key.stride(0),
            PACK=key_cache.shape[4], WIDTH=triton.next_power_of_2(heads * head_size),
        )
        for token, slot in enumerate(slot_mapping.tolist()):
            if slot >= 0:
                torch.ops.aten.clone.out(value[token], out=value_cache[slot // block_size, :, :, slot % block_size])
