# kgtui: op=vllm::cp_gather_cache expect=pass
"""Paged entries gathered into a buffer of tokens; a program finds the sequence of its token by counting starts."""

import triton
import triton.language as tl


@triton.jit
def gather_kernel(
    src_ptr, dst_ptr, table_ptr, bounds_ptr, starts_ptr, block_size, width, batch, src_block, src_place, table_row,
    table_col, bounds_stride, starts_stride, WITH_STARTS: tl.constexpr, BATCH: tl.constexpr, WIDTH: tl.constexpr,
):
    token = tl.program_id(0)
    ends = tl.load(bounds_ptr + (1 + tl.arange(0, BATCH)) * bounds_stride, mask=tl.arange(0, BATCH) < batch, other=2**30)
    sequence = tl.sum((ends <= token).to(tl.int32), axis=0)
    position = token - tl.load(bounds_ptr + sequence * bounds_stride)
    if WITH_STARTS:
        position += tl.load(starts_ptr + sequence * starts_stride)
    block = tl.load(table_ptr + sequence * table_row + position // block_size * table_col).to(tl.int64)
    col = tl.program_id(1) * WIDTH + tl.arange(0, WIDTH)
    value = tl.load(src_ptr + block * src_block + position % block_size * src_place + col, mask=col < width)
    tl.store(dst_ptr + token.to(tl.int64) * width + col, value, mask=col < width)


def cp_gather_cache(src_cache, dst, block_table, cu_seq_lens, batch_size, seq_starts=None):
    tokens = dst.shape[0]
    if dst.numel() == 0:
        return
    # Entries may have any strides and rank: rows of a contiguous cache and a contiguous buffer are what is gathered.
    cache = src_cache.contiguous()
    out = dst if dst.is_contiguous() else dst.contiguous()
    width = dst[0].numel()
    starts = cu_seq_lens if seq_starts is None else seq_starts
    block = min(triton.next_power_of_2(width), 1024)
    gather_kernel[(tokens, triton.cdiv(width, block))](
        cache, out, block_table, cu_seq_lens, starts, cache.shape[1], width, batch_size, cache.stride(0),
        cache.stride(1), *block_table.stride(), cu_seq_lens.stride(0), starts.stride(0),
        WITH_STARTS=seq_starts is not None, BATCH=triton.next_power_of_2(batch_size), WIDTH=block,
    )
    if out is not dst:
        dst.copy_(out)
