# kgtui: op=vllm::copy_blocks expect=pass
"""Blocks copied inside of every cache, one part of one pair per program; strided caches by way of a copy."""

import triton
import triton.language as tl


@triton.jit
def copy_kernel(cache_ptr, map_ptr, elements, block_stride, map_row, map_col, BLOCK: tl.constexpr):
    pair = tl.program_id(0).to(tl.int64)
    source = tl.load(map_ptr + pair * map_row)
    target = tl.load(map_ptr + pair * map_row + map_col)
    at = tl.program_id(1).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(cache_ptr + source * block_stride + at, mask=at < elements)
    tl.store(cache_ptr + target * block_stride + at, value, mask=at < elements)


def copy_blocks(key_caches, value_caches, block_mapping):
    pairs = block_mapping.shape[0]
    for cache in (*key_caches, *value_caches):
        if pairs == 0 or cache.numel() == 0:
            continue
        dense = cache.contiguous()
        elements = dense[0].numel()
        block = min(triton.next_power_of_2(elements), 1024)
        copy_kernel[(pairs, triton.cdiv(elements, block))](
            dense, block_mapping, elements, dense.stride(0), *block_mapping.stride(), BLOCK=block
        )
        if not cache.is_contiguous():
            cache.copy_(dense)
