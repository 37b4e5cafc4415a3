# kgtui: op=vllm::allspark_w8a16_gemm expect=pass
"""Product with bytes in the n32k16 order: the address of a weight and of its scale follow from its row and column."""

import torch
import triton
import triton.language as tl


@triton.jit
def product_kernel(
    a_ptr, q_ptr, scale_ptr, zero_ptr, out_ptr, m, n, k, a0, a1, q0, q1, scale1, zero1,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64) * M + tl.arange(0, M)[:, None]
    j = tl.program_id(1).to(tl.int64) * N + tl.arange(0, N)[None, :]
    kind = a_ptr.dtype.element_ty
    place = j // 32 * 32 + j % 8 * 4 + j % 32 // 8
    scale = tl.load(scale_ptr + place * scale1, mask=j < n, other=0.0).to(tl.float32)
    middle = tl.zeros_like(scale) + 128.0
    if zero_ptr is not None:
        middle += tl.load(zero_ptr + place * zero1, mask=j < n, other=0.0).to(tl.float32)
    total = tl.zeros((M, N), tl.float32)
    for start in range(0, k, K):
        depth = start + tl.arange(0, K).to(tl.int64)
        along, down = depth[None, :], depth[:, None]
        a = tl.load(a_ptr + row * a0 + along * a1, mask=(row < m) & (along < k), other=0.0)
        column = down // 16 * 64 + down % 8 // 2 * 16 + j % 32 // 16 * 8 + j % 16 // 8 * 4 + down % 16 // 8 * 2 + down % 2
        flat = (j // 32 * 8 + j % 8) * (4 * k) + column
        q = tl.load(q_ptr + flat // k * q0 + flat % k * q1, mask=(down < k) & (j < n), other=0)
        weight = tl.where(down < k, (q.to(tl.float32) - middle) * scale, 0.0)
        total += tl.dot(a, weight.to(kind))
    tl.store(out_ptr + row * n + j, total.to(kind), mask=(row < m) & (j < n))


def allspark_w8a16_gemm(
    a, b_qweight, b_scales, b_qzeros, n, group_size, sm_count, sm_version, CUBLAS_M_THRESHOLD, has_zp, n32k16_reorder
):
    m, k = a.shape
    out = torch.empty((m, n), dtype=a.dtype, device=a.device)
    if out.numel():
        zeros = b_qzeros if has_zp else None
        product_kernel[(triton.cdiv(m, 16), triton.cdiv(n, 32))](
            a, b_qweight, b_scales, zeros, out, m, n, k, *a.stride(), *b_qweight.stride(), b_scales.stride(1),
            0 if zeros is None else zeros.stride(1), M=16, N=32, K=32,
        )
    return out
