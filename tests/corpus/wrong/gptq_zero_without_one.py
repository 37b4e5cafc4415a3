# kgtui: op=vllm::gptq_gemm expect=wrong_value diagnosis=ignored_argument case="4x64x32 4 bit by 32 exllama false"
"""GPTQ weights whose stored zero points are used as they are, without the 1 that the first format leaves out."""

import torch
import triton
import triton.language as tl


@triton.jit
def gptq_kernel(
    a_ptr, word_ptr, zero_ptr, scale_ptr, index_ptr, out_ptr, m, k, n, group, a0, a1, word0, word1, zero0, zero1,
    scale0, scale1, index0,
    BITS: tl.constexpr, SHUFFLED: tl.constexpr, INDEXED: tl.constexpr, PLUS: tl.constexpr,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
):
    per_word: tl.constexpr = 32 // BITS
    largest: tl.constexpr = (1 << BITS) - 1
    row = tl.program_id(0).to(tl.int64) * M + tl.arange(0, M)[:, None]
    col = tl.program_id(1).to(tl.int64) * N + tl.arange(0, N)[None, :]
    total = tl.zeros((M, N), tl.float32)
    for start in range(0, k, K):
        depth = start + tl.arange(0, K).to(tl.int64)
        inside_k = depth < k
        listed = tl.load(index_ptr + depth * index0, mask=inside_k, other=0).to(tl.int64) if INDEXED else depth
        source = listed if SHUFFLED else depth
        part = (depth // group if SHUFFLED else listed)[:, None]
        a = tl.load(a_ptr + row * a0 + source[None, :] * a1, mask=(row < m) & inside_k[None, :], other=0.0)
        place = depth % per_word
        if SHUFFLED and BITS == 4:  # rows 0, 2, 4, 6, 1, 3, 5, 7 of a word
            place = place // 2 + place % 2 * 4
        inside = inside_k[:, None] & (col < n)
        words = tl.load(word_ptr + (depth // per_word)[:, None] * word0 + col * word1, mask=inside, other=0)
        zeros = tl.load(zero_ptr + part * zero0 + col // per_word * zero1, mask=inside, other=0)
        scale = tl.load(scale_ptr + part * scale0 + col * scale1, mask=inside, other=0.0)
        value = (words >> (place * BITS).to(tl.int32)[:, None]) & largest
        zero = ((zeros >> (col % per_word * BITS).to(tl.int32)) & largest)
        total += tl.dot(a, (value - zero).to(tl.float16) * scale)
    tl.store(out_ptr + row * n + col, total.to(tl.float16), mask=(row < m) & (col < n))


def gptq_gemm(a, b_q_weight, b_gptq_qzeros, b_gptq_scales, b_g_idx, use_exllama, use_v2_format, bit):
    m, k = a.shape
    groups, n = b_gptq_scales.shape
    out = torch.empty((m, n), dtype=a.dtype, device=a.device)
    if out.numel():
        gptq_kernel[(triton.cdiv(m, 16), triton.cdiv(n, 32))](
            a, b_q_weight, b_gptq_qzeros, b_gptq_scales, b_g_idx, out, m, k, n, k // groups, *a.stride(),
            *b_q_weight.stride(), *b_gptq_qzeros.stride(), *b_gptq_scales.stride(), b_g_idx.stride(0),
            BITS=bit, SHUFFLED=use_exllama, INDEXED=b_g_idx.numel() > 0, PLUS=0 if use_v2_format else 1, M=16, N=32, K=32,
        )
    return out
