# kgtui: op=vllm::awq_gemm expect=pass
"""AWQ product with split K: zero points are unpacked on the host once, weights in the kernel; partial sums by atomics."""

import torch
import triton
import triton.language as tl

ORDER = (0, 4, 1, 5, 2, 6, 3, 7)


def unpack_zeros(qzeros):
    """(groups, N) zero points in the order of the columns, int32."""
    shifts = torch.tensor(ORDER, dtype=torch.int32, device=qzeros.device) * 4
    return ((qzeros[:, :, None] >> shifts) & 15).reshape(qzeros.shape[0], -1)


@triton.jit
def awq_split_kernel(
    x_ptr, w_ptr, s_ptr, z_ptr, part_ptr, M, N, K, group, x0, x1, w0, w1, s0, s1, z0, z1,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPLIT: tl.constexpr,
):
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    col = tl.program_id(1) * BN + tl.arange(0, BN)
    split = tl.program_id(2)
    shift = ((col % 8) // 2 + (col % 2) * 4) * 4
    acc = tl.zeros((BM, BN), tl.float32)
    for step in range(split, tl.cdiv(K, BK), SPLIT):
        k = step * BK + tl.arange(0, BK)
        x = tl.load(x_ptr + row[:, None] * x0 + k[None, :] * x1, mask=(row[:, None] < M) & (k[None, :] < K), other=0.0)
        inside = (k[:, None] < K) & (col[None, :] < N)
        w = tl.load(w_ptr + k[:, None] * w0 + (col // 8)[None, :] * w1, mask=inside, other=0)
        g = (k // group)[:, None]
        z = tl.load(z_ptr + g * z0 + col[None, :] * z1, mask=inside, other=0)
        s = tl.load(s_ptr + g * s0 + col[None, :] * s1, mask=inside, other=0.0)
        b = (((w >> shift[None, :]) & 15) - z).to(tl.float16) * s
        acc += tl.dot(x, b)
    at = part_ptr + row[:, None] * N + col[None, :]
    tl.atomic_add(at, acc, mask=(row[:, None] < M) & (col[None, :] < N), sem="relaxed")


def awq_gemm(input, qweight, scales, qzeros, split_k_iters):
    M, K = input.shape
    N = scales.shape[1]
    part = torch.zeros((M, N), dtype=torch.float32, device=input.device)
    if M:
        zeros = unpack_zeros(qzeros)
        grid = (triton.cdiv(M, 16), triton.cdiv(N, 32), split_k_iters)
        awq_split_kernel[grid](
            input, qweight, scales, zeros, part, M, N, K, K // scales.shape[0], *input.stride(), *qweight.stride(),
            *scales.stride(), *zeros.stride(), BM=16, BN=32, BK=32, SPLIT=split_k_iters,
        )
    return part.to(input.dtype)
