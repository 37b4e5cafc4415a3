# kgtui: op=vllm::gptq_marlin_gemm expect=pass
"""Marlin product: each value of a weight tile is found in its word, scaled in float16 and multiplied by tensor cores."""

import torch
import triton
import triton.language as tl

BITS_OF = {"uint4b8": 4, "uint8b128": 8}


@triton.jit
def word_and_place(k, n, PACK: tl.constexpr):
    """The word in its row, and the place in that word, of the value at (k, n)."""
    lane = n % 8 * 4 + k % 8 // 2
    number = lane * 32 + n % 64 // 16 * 8 + n % 16 // 8 * 4 + k % 16 // 8 * 2 + k % 2
    neighbour = number % PACK
    return n // 64 * (1024 // PACK) + number // PACK, neighbour // 2 + neighbour % 2 * (PACK // 2)


@triton.jit
def marlin_kernel(
    a_ptr, word_ptr, scale_ptr, index_ptr, perm_ptr, out_ptr, m, n, k, group, a0, a1, w0, w1, s0, s1, index0, perm0,
    BITS: tl.constexpr, ACT_ORDER: tl.constexpr, ONE_GROUP: tl.constexpr,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64) * M + tl.arange(0, M)[:, None]
    col = tl.program_id(1).to(tl.int64) * N + tl.arange(0, N)[None, :]
    # The columns of 64 scales are stored as a transposed 8 x 8 square; those of one group in an order of 32.
    if ONE_GROUP:
        scale_col = col // 32 * 32 + col % 8 // 2 * 8 + col % 32 // 8 * 2 + col % 2
    else:
        scale_col = col // 64 * 64 + col % 8 * 8 + col % 64 // 8
    total = tl.zeros((M, N), tl.float32)
    for start in range(0, k, K):
        depth = start + tl.arange(0, K).to(tl.int64)
        inside_k = depth < k
        source, part = depth, depth // group
        if ACT_ORDER:
            source = tl.load(perm_ptr + depth * perm0, mask=inside_k, other=0).to(tl.int64)
            part = tl.load(index_ptr + depth * index0, mask=inside_k, other=0).to(tl.int64)
        a = tl.load(a_ptr + row * a0 + source[None, :] * a1, mask=(row < m) & inside_k[None, :], other=0.0)
        inside = inside_k[:, None] & (col < n)
        word, place = word_and_place(depth[:, None], col, 32 // BITS)
        words = tl.load(word_ptr + depth[:, None] // 16 * w0 + word * w1, mask=inside, other=0)
        value = (words >> (place * BITS).to(tl.int32)) & ((1 << BITS) - 1)
        scale = tl.load(scale_ptr + part[:, None] * s0 + scale_col * s1, mask=inside, other=0.0)
        total += tl.dot(a, (value - (1 << (BITS - 1))).to(tl.float16) * scale)
    tl.store(out_ptr + row * n + col, total.to(tl.float16), mask=(row < m) & (col < n))


def gptq_marlin_gemm(
    a, c, b_q_weight, b_bias, b_scales, a_scales, global_scale, b_zeros, g_idx, perm, workspace, b_q_type,
    size_m, size_n, size_k, is_k_full=True, use_atomic_add=False, use_fp32_reduce=False, is_zp_float=False,
):
    out = torch.empty((size_m, size_n), dtype=a.dtype, device=a.device)
    if out.numel():
        groups = b_scales.shape[0]
        marlin_kernel[(triton.cdiv(size_m, 16), triton.cdiv(size_n, 64))](
            a, b_q_weight, b_scales, g_idx, perm, out, size_m, size_n, size_k, size_k // groups, *a.stride(),
            *b_q_weight.stride(), *b_scales.stride(), g_idx.stride(0), perm.stride(0),
            BITS=BITS_OF[b_q_type], ACT_ORDER=perm.numel() > 0, ONE_GROUP=groups == 1, M=16, N=64, K=32,
        )
    return out
