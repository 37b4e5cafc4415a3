# kgtui: op=vllm::copy_blocks_mla expect=pass
"""Blocks of latent caches copied inside of each cache, one token of one pair per program."""

import triton
import triton.language as tl


@triton.jit
def copy_kernel(cache_ptr, map_ptr, width, cache0, cache1, cache2, map_row, map_col, WIDTH: tl.constexpr):
    pair = tl.program_id(0).to(tl.int64)
    place = tl.program_id(1).to(tl.int64)
    col = tl.arange(0, WIDTH).to(tl.int64)
    source = tl.load(map_ptr + pair * map_row)
    target = tl.load(map_ptr + pair * map_row + map_col)
    offset = place * cache1 + col * cache2
    value = tl.load(cache_ptr + source * cache0 + offset, mask=col < width)
    tl.store(cache_ptr + target * cache0 + offset, value, mask=col < width)


def copy_blocks_mla(kv_caches, block_mapping):
    pairs = block_mapping.shape[0]
    for cache in kv_caches:
        if pairs and cache.numel():
            copy_kernel[(pairs, cache.shape[1])](
                cache, block_mapping, cache.shape[2], *cache.stride(), *block_mapping.stride(),
                WIDTH=triton.next_power_of_2(cache.shape[2]),
            )
