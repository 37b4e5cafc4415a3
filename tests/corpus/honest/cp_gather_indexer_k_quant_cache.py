# kgtui: op=vllm::cp_gather_indexer_k_quant_cache expect=pass
"""Keys and scales out of a paged cache, one token a program; a scale is put together from its four bytes."""

import torch
import triton
import triton.language as tl


@triton.jit
def gather_kernel(
    cache_ptr, key_ptr, scale_ptr, table_ptr, start_ptr, sequences, block_size, width, scales, line,
    c0, c1, c2, key0, key1, scale0, scale1, table0, table1, start0,
    SEQUENCES: tl.constexpr, WIDTH: tl.constexpr, SCALES: tl.constexpr,
):
    row = tl.program_id(0)
    sequence = tl.arange(0, SEQUENCES)
    first = tl.load(start_ptr + sequence * start0, mask=sequence < sequences, other=0)
    ends = tl.load(start_ptr + (sequence + 1) * start0, mask=sequence < sequences, other=2**31 - 1)
    own = tl.sum((ends <= row).to(tl.int32), axis=0)
    token = row - tl.sum(tl.where(sequence == own, first, 0), axis=0)
    block = tl.load(table_ptr + own * table0 + token // block_size * table1).to(tl.int64)
    place = token % block_size
    byte = tl.arange(0, WIDTH)
    n = place * width + byte
    at = cache_ptr + block * c0 + n // line * c1 + n % line * c2
    key = tl.load(at, mask=byte < width)
    tl.store(key_ptr + row.to(tl.int64) * key0 + byte * key1, key, mask=byte < width)
    number = tl.arange(0, SCALES)
    word = tl.zeros((SCALES,), tl.int32)
    for part in tl.static_range(4):
        n = block_size * width + (place * scales + number) * 4 + part
        at = cache_ptr + block * c0 + n // line * c1 + n % line * c2
        word |= tl.load(at, mask=number < scales, other=0).to(tl.int32) << (8 * part)
    tl.store(scale_ptr + row.to(tl.int64) * scale0 + number * scale1, word, mask=number < scales)


def cp_gather_indexer_k_quant_cache(kv_cache, dst_k, dst_scale, block_table, cu_seq_lens):
    tokens, width = dst_k.shape
    if tokens == 0:
        return
    sequences, scales = cu_seq_lens.numel() - 1, dst_scale.shape[1]
    gather_kernel[(tokens,)](
        kv_cache, dst_k, dst_scale.view(torch.int32), block_table, cu_seq_lens, sequences, kv_cache.shape[1], width,
        scales, kv_cache.shape[2], *kv_cache.stride(), *dst_k.stride(), *dst_scale.stride(), *block_table.stride(),
        cu_seq_lens.stride(0), SEQUENCES=triton.next_power_of_2(sequences), WIDTH=triton.next_power_of_2(width),
        SCALES=triton.next_power_of_2(scales),
    )
