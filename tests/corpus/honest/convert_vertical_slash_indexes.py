# kgtui: op=vllm::convert_vertical_slash_indexes expect=pass
"""Row blocks in lanes: each walks over the diagonals, lists the keys of a range when it ends, and marks its columns."""

import torch
import triton
import triton.language as tl


@triton.jit
def list_range(at, listed, start, end, step, ended):
    """Store start, start + step, ... below end behind the entries that are listed; how many there are then."""
    stop = tl.where(ended, end, start)
    most = tl.max((stop - start + step - 1) // step, axis=0)
    for number in range(most):
        key = start + number * step
        tl.store(at + listed, key, mask=key < stop)
        listed += (key < stop).to(tl.int32)
    return listed


@triton.jit
def convert_kernel(
    queries_ptr, keys_ptr, vertical_ptr, slash_ptr, block_count_ptr, block_ptr, column_count_ptr, column_ptr,
    rows, verticals, slashes, q0, k0, v0, v1, v2, s0, s1, s2, M: tl.constexpr, N: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):
    head, batch = tl.program_id(1).to(tl.int64), tl.program_id(2).to(tl.int64)
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    place = (batch * tl.num_programs(1) + head) * rows + row
    queries, keys = tl.load(queries_ptr + batch * q0), tl.load(keys_ptr + batch * k0)
    used = (row < rows) & (row * M < queries)
    last = keys - queries + (row + 1) * M
    number = tl.arange(0, COLUMNS)
    is_column = number < verticals
    column = tl.load(vertical_ptr + batch * v0 + head * v1 + number * v2, mask=is_column, other=0)
    covered = tl.zeros((ROWS, COLUMNS), tl.int1)
    listed = tl.zeros((ROWS,), tl.int32)
    start = tl.zeros((ROWS,), tl.int32)
    end = tl.zeros((ROWS,), tl.int32)  # 0 before the first range: a range ends at M or later
    for slash in range(slashes):
        distance = tl.load(slash_ptr + batch * s0 + head * s1 + slash * s2)
        reaches = used & (distance < last)
        key = tl.maximum(last - distance, M)
        opens = reaches & ((end == 0) | (key > end + M))
        grows = reaches & (key > end) & ~opens
        listed = list_range(block_ptr + place * slashes, listed, start, tl.minimum(end, keys), N, opens)
        covered |= opens[:, None] & (column[None, :] >= start[:, None]) & (column[None, :] < end[:, None])
        start = tl.where(opens, key - M, start)
        end = tl.where(opens, key, tl.where(grows, end + M, end))
    listed = list_range(block_ptr + place * slashes, listed, start, tl.minimum(end, keys), N, used)
    covered |= (column[None, :] >= start[:, None]) & (column[None, :] < end[:, None])
    kept = used[:, None] & is_column[None, :] & ~covered & (column[None, :] < end[:, None])
    rank = tl.cumsum(kept.to(tl.int32), axis=1) - 1
    column_at = column_ptr + place[:, None] * verticals + rank
    tl.store(column_at, tl.broadcast_to(column[None, :], (ROWS, COLUMNS)), mask=kept)
    tl.store(block_count_ptr + place, listed, mask=row < rows)
    tl.store(column_count_ptr + place, tl.sum(kept.to(tl.int32), axis=1), mask=row < rows)


def convert_vertical_slash_indexes(
    q_seqlens, kv_seqlens, vertical_indexes, slash_indexes, context_size, block_size_M, block_size_N, causal=True
):
    batch, heads, slashes = slash_indexes.shape
    verticals, rows = vertical_indexes.shape[2], triton.cdiv(context_size, block_size_M)
    made = (
        torch.zeros((batch, heads, rows, *width), dtype=torch.int32, device=q_seqlens.device)
        for width in ((), (slashes,), (), (verticals,))
    )
    block_count, block_offset, column_count, column_index = made
    convert_kernel[(triton.cdiv(rows, 16), heads, batch)](
        q_seqlens, kv_seqlens, vertical_indexes, slash_indexes, block_count, block_offset, column_count, column_index,
        rows, verticals, slashes, q_seqlens.stride(0), kv_seqlens.stride(0), *vertical_indexes.stride(),
        *slash_indexes.stride(), M=block_size_M, N=block_size_N, ROWS=16, COLUMNS=triton.next_power_of_2(verticals),
    )
    return block_count, block_offset, column_count, column_index
