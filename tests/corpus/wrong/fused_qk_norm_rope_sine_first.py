# kgtui: op=vllm::fused_qk_norm_rope expect=wrong_value diagnosis=wrong_stride case="5 of 2x1x1x64 f16 neox true"
"""The table is read as sines in front of cosines, which lie the other way round."""

import triton
import triton.language as tl


@triton.jit
def norm_rope_kernel(
    x_ptr, q_weight_ptr, k_weight_ptr, table_ptr, position_ptr, eps, queries, rotary, x0, x1, q_stride, k_stride,
    table0, table1, position_stride, NEOX: tl.constexpr, DIM: tl.constexpr,
):
    token = tl.program_id(0).to(tl.int64)
    head = tl.program_id(1).to(tl.int64)
    col = tl.arange(0, DIM).to(tl.int64)
    half = rotary // 2
    if NEOX:
        pair = tl.where(col < half, col + half, col - half)
        angle = tl.where(col < half, col, col - half)
        sign = tl.where(col < half, -1.0, 1.0)
    else:
        pair = col + 1 - 2 * (col % 2)
        angle = col // 2
        sign = tl.where(col % 2 == 0, -1.0, 1.0)
    turns = col < rotary
    pair = tl.where(turns, pair, col)
    angle = tl.where(turns, angle, 0)
    at = x_ptr + token * x0 + head * DIM * x1
    x = tl.load(at + col * x1).to(tl.float32)
    other = tl.load(at + pair * x1).to(tl.float32)
    root = tl.rsqrt(tl.sum(x * x, axis=0) / DIM + eps)
    if head < queries:
        weight = tl.load(q_weight_ptr + col * q_stride).to(tl.float32)
        pair_weight = tl.load(q_weight_ptr + pair * q_stride).to(tl.float32)
    else:
        weight = tl.load(k_weight_ptr + col * k_stride).to(tl.float32)
        pair_weight = tl.load(k_weight_ptr + pair * k_stride).to(tl.float32)
    position = tl.load(position_ptr + token * position_stride)
    sin = tl.load(table_ptr + position * table0 + angle * table1).to(tl.float32)
    cos = tl.load(table_ptr + position * table0 + (half + angle) * table1).to(tl.float32)
    normed = x * root * weight
    turned = normed * cos + sign * (other * root * pair_weight) * sin
    tl.debug_barrier()
    tl.store(at + col * x1, tl.where(turns, turned, normed).to(x_ptr.dtype.element_ty))


def fused_qk_norm_rope(
    qkv, num_heads_q, num_heads_k, num_heads_v, head_dim, eps, q_weight, k_weight, cos_sin_cache, is_neox, position_ids
):
    tokens = qkv.shape[0]
    if tokens == 0:
        return
    norm_rope_kernel[(tokens, num_heads_q + num_heads_k)](
        qkv, q_weight, k_weight, cos_sin_cache, position_ids, eps, num_heads_q, cos_sin_cache.shape[1], *qkv.stride(),
        q_weight.stride(0), k_weight.stride(0), *cos_sin_cache.stride(), position_ids.stride(0), NEOX=is_neox,
        DIM=head_dim,
    )
