# kgtui: op=vllm::gptq_gemm expect=pass
"""Rows sorted by group where g_idx is not monotonic (act-order), zero points unpacked on the host."""

import torch
import triton
import triton.language as tl


@triton.jit
def gptq_kernel(
    a_ptr, w_ptr, z_ptr, s_ptr, order_ptr, group_ptr, out_ptr, M, N, K, a0, a1, w0, w1, z0, z1, s0, s1,
    BITS: tl.constexpr, SHUFFLED: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):
    PER: tl.constexpr = 32 // BITS
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    col = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        i = start + tl.arange(0, BK)
        inside = i < K
        k = tl.load(order_ptr + i, mask=inside, other=0)
        g = tl.load(group_ptr + i, mask=inside, other=0)
        if SHUFFLED:
            word, place = i // PER, i % PER
            if BITS == 4:
                place = place // 2 + place % 2 * 4
            column = k
        else:
            word, place = k // PER, k % PER
            column = k
        a = tl.load(a_ptr + row[:, None] * a0 + column[None, :] * a1, mask=(row[:, None] < M) & inside[None, :], other=0.0)
        both = inside[:, None] & (col[None, :] < N)
        w = tl.load(w_ptr + word[:, None] * w0 + col[None, :] * w1, mask=both, other=0)
        q = (w >> (place * BITS)[:, None]) & ((1 << BITS) - 1)
        z = tl.load(z_ptr + g[:, None] * z0 + col[None, :] * z1, mask=both, other=0)
        s = tl.load(s_ptr + g[:, None] * s0 + col[None, :] * s1, mask=both, other=0.0)
        acc += tl.dot(a, (q - z).to(tl.float16) * s)
    tl.store(out_ptr + row[:, None] * N + col[None, :], acc.to(tl.float16), mask=(row[:, None] < M) & (col[None, :] < N))


def _zeros(qzeros, bit, v2):
    shifts = torch.arange(0, 32, bit, dtype=torch.int32, device=qzeros.device)
    z = torch.bitwise_right_shift(qzeros.unsqueeze(2), shifts) & ((1 << bit) - 1)
    z = z.flatten(1)
    return z if v2 else z + 1


def gptq_gemm(a, b_q_weight, b_gptq_qzeros, b_gptq_scales, b_g_idx, use_exllama, use_v2_format, bit):
    M, K = a.shape
    N = b_q_weight.shape[1]
    groups = b_gptq_scales.shape[0]
    out = torch.empty((M, N), dtype=a.dtype, device=a.device)
    if out.numel() == 0:
        return out
    if use_exllama:
        order = b_g_idx.contiguous() if b_g_idx.numel() else torch.arange(K, dtype=torch.int32, device=a.device)
        group = torch.arange(K, dtype=torch.int32, device=a.device) // (K // groups)
    else:
        order = torch.argsort(b_g_idx, stable=True).to(torch.int32)
        group = b_g_idx[order.long()]
    zeros = _zeros(b_gptq_qzeros, bit, use_v2_format)
    grid = (triton.cdiv(M, 16), triton.cdiv(N, 32))
    gptq_kernel[grid](
        a, b_q_weight, zeros, b_gptq_scales, order, group, out, M, N, K, *a.stride(), *b_q_weight.stride(),
        *zeros.stride(), *b_gptq_scales.stride(), BITS=bit, SHUFFLED=use_exllama, BM=16, BN=32, BK=32,
    )
    return out
