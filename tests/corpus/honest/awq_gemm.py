# kgtui: op=vllm::awq_gemm expect=pass
"""AWQ product: each program unpacks a tile of words to weights in float16 and multiplies it with a tile of rows."""

import torch
import triton
import triton.language as tl


@triton.jit
def awq_kernel(
    x_ptr, words_ptr, scale_ptr, zero_ptr, out_ptr, m, k, n, group, x0, x1, words0, words1, scale0, scale1, zero0, zero1,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64) * M + tl.arange(0, M)
    col = tl.program_id(1).to(tl.int64) * N + tl.arange(0, N)
    # Column 8 w + j is at the place j / 2 for even j, 4 + j / 2 for odd j.
    shift = ((col % 8) // 2 + (col % 2) * 4) * 4
    total = tl.zeros([M, N], dtype=tl.float32)
    for start in range(0, k, K):
        depth = start + tl.arange(0, K).to(tl.int64)
        x = tl.load(x_ptr + row[:, None] * x0 + depth[None, :] * x1, mask=(row[:, None] < m) & (depth[None, :] < k), other=0.0)
        inside = (depth[:, None] < k) & (col[None, :] < n)
        words = tl.load(words_ptr + depth[:, None] * words0 + col[None, :] // 8 * words1, mask=inside, other=0)
        part = (depth // group)[:, None]
        zeros = tl.load(zero_ptr + part * zero0 + col[None, :] // 8 * zero1, mask=inside, other=0)
        scale = tl.load(scale_ptr + part * scale0 + col[None, :] * scale1, mask=inside, other=0.0)
        difference = ((words >> shift[None, :]) & 15) - ((zeros >> shift[None, :]) & 15)
        total += tl.dot(x, difference.to(tl.float16) * scale)
    inside = (row[:, None] < m) & (col[None, :] < n)
    tl.store(out_ptr + row[:, None] * n + col[None, :], total.to(tl.float16), mask=inside)


def awq_gemm(input, qweight, scales, qzeros, split_k_iters):
    m, k = input.shape
    n = scales.shape[1]
    out = torch.empty((m, n), dtype=input.dtype, device=input.device)
    if out.numel():
        awq_kernel[(triton.cdiv(m, 16), triton.cdiv(n, 32))](
            input, qweight, scales, qzeros, out, m, k, n, k // scales.shape[0], *input.stride(), *qweight.stride(),
            *scales.stride(), *qzeros.stride(), M=16, N=32, K=32,
        )
    return out
