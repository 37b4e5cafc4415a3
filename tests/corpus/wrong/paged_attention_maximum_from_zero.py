# kgtui: op=vllm::paged_attention_v1 expect=nonfinite diagnosis=not_reached case="20x9x50 tokens 4/2x32 f16 far below zero"
"""The maximum of a block of logits is at least zero, so that far below it every weight of a head vanishes."""

import triton
import triton.language as tl


@triton.jit
def cached(ptr, at, mask, factor, FP8: tl.constexpr):
    """Elements of a cache in float32; e4m3 codes are decoded as float16 with another bias, and multiplied."""
    if FP8:
        code = tl.load(ptr + at, mask=mask, other=0).to(tl.int32)
        bits = ((code & 0x80) << 8) | ((code & 0x7F) << 7)
        value = bits.to(tl.int16).to(tl.float16, bitcast=True).to(tl.float32) * 256.0
        return tl.where((code & 0x7F) == 0x7F, float("nan"), value) * factor
    return tl.load(ptr + at, mask=mask, other=0.0).to(tl.float32)


@triton.jit
def attend(
    query_ptr, key_ptr, value_ptr, table_ptr, k_factor, v_factor, first, end, length, kv_head, slope, scale, offset,
    head_size, block_size, group_size, k0, k1, k2, k3, k4, v0, v1, v2, v3, table1, query1,
    local_blocks, vert_stride, sparse_block,
    FP8: tl.constexpr, SPARSE: tl.constexpr, DIM: tl.constexpr, TOKENS: tl.constexpr,
):
    """The largest logit, the sum of exponentials and the weighted sum of values of the tokens from first to end."""
    d = tl.arange(0, DIM)
    query = tl.load(query_ptr + d * query1, mask=d < head_size, other=0.0).to(tl.float32)
    nothing = float("-inf")
    largest = tl.zeros((), tl.float32) + nothing
    total = tl.zeros((), tl.float32)
    out = tl.zeros((DIM,), tl.float32)
    for start in range(first, end, TOKENS):
        t = start + tl.arange(0, TOKENS)
        attended = t < end
        if SPARSE:
            block = t // sparse_block
            attended &= (block > (length - 1) // sparse_block - local_blocks) | ((block + offset) % vert_stride == 0)
        physical = tl.load(table_ptr + t // block_size * table1, mask=attended, other=0).to(tl.int64)
        place = t % block_size
        inside = attended[:, None] & (d < head_size)[None, :]
        key_at = (physical * k0 + kv_head * k1 + place * k3)[:, None] + (d // group_size * k2 + d % group_size * k4)[None, :]
        key = cached(key_ptr, key_at, inside, k_factor, FP8)
        logit = tl.sum(tl.where(inside, key * query[None, :], 0.0), axis=1) * scale + slope * (t - length + 1)
        logit = tl.where(attended, logit, nothing)
        new = tl.maximum(largest, tl.max(tl.where(attended, logit, 0.0), axis=0))
        shift = tl.where(new == nothing, 0.0, new)
        weight = tl.where(attended, tl.exp(logit - shift), 0.0)
        kept = tl.exp(largest - shift)
        value = cached(value_ptr, (physical * v0 + kv_head * v1 + place * v3)[:, None] + d[None, :] * v2, inside, v_factor, FP8)
        out = out * kept + tl.sum(tl.where(inside, weight[:, None] * value, 0.0), axis=0)
        total = total * kept + tl.sum(weight, axis=0)
        largest = new
    return largest, total, out


@triton.jit
def attention_kernel(
    out_ptr, query_ptr, key_ptr, value_ptr, table_ptr, length_ptr, slope_ptr, k_scale_ptr, v_scale_ptr, scale,
    heads, kv_heads, head_size, block_size, group_size, out0, out1, out2, q0, q1, q2, k0, k1, k2, k3, k4, v0, v1, v2, v3,
    table0, table1, length0, slope0, tp_rank, local_blocks, vert_stride, sparse_block, step,
    FP8: tl.constexpr, SPARSE: tl.constexpr, DIM: tl.constexpr, TOKENS: tl.constexpr,
):
    sequence, head = tl.program_id(0).to(tl.int64), tl.program_id(1)
    kv_head = (head // (heads // kv_heads)).to(tl.int64)
    length = tl.load(length_ptr + sequence * length0)
    slope = tl.load(slope_ptr + head * slope0) if slope_ptr is not None else 0.0
    own = tp_rank * heads + head
    shared = tp_rank * kv_heads + kv_head.to(tl.int32)
    offset = step * own + 1 if step >= 0 else 1 - step * shared
    _, total, out = attend(
        query_ptr + sequence * q0 + head * q1, key_ptr, value_ptr, table_ptr + sequence * table0, tl.load(k_scale_ptr),
        tl.load(v_scale_ptr), 0, length, length, kv_head, slope, scale, offset, head_size, block_size, group_size,
        k0, k1, k2, k3, k4, v0, v1, v2, v3, table1, q2, local_blocks, vert_stride, sparse_block, FP8, SPARSE, DIM, TOKENS,
    )
    d = tl.arange(0, DIM)
    at = out_ptr + sequence * out0 + head * out1 + d * out2
    tl.store(at, (out / total).to(out_ptr.dtype.element_ty), mask=d < head_size)


def paged_attention_v1(
    out, query, key_cache, value_cache, num_kv_heads, scale, block_tables, seq_lens, block_size, max_seq_len,
    alibi_slopes, kv_cache_dtype, k_scale, v_scale, tp_rank=0, blocksparse_local_blocks=0, blocksparse_vert_stride=0,
    blocksparse_block_size=64, blocksparse_head_sliding_step=0,
):
    sequences, heads, head_size = query.shape
    if out.numel() == 0:
        return
    attention_kernel[(sequences, heads)](
        out, query, key_cache, value_cache, block_tables, seq_lens, alibi_slopes, k_scale, v_scale, scale, heads,
        num_kv_heads, head_size, block_size, key_cache.shape[4], *out.stride(), *query.stride(), *key_cache.stride(),
        *value_cache.stride(), *block_tables.stride(), seq_lens.stride(0),
        0 if alibi_slopes is None else alibi_slopes.stride(0), tp_rank, blocksparse_local_blocks,
        blocksparse_vert_stride, blocksparse_block_size, blocksparse_head_sliding_step, FP8=kv_cache_dtype != "auto",
        SPARSE=blocksparse_vert_stride > 1, DIM=triton.next_power_of_2(head_size), TOKENS=32,
    )
