# kgtui: op=vllm::cutlass_scaled_mm_azp expect=pass
"""int8 product summed in int32, from which the zero point takes its share before the scales multiply in float32."""

import torch
import triton
import triton.language as tl


@triton.jit
def product_kernel(
    a_ptr, b_ptr, scale_a_ptr, scale_b_ptr, adjustment_ptr, azp_ptr, bias_ptr, out_ptr, m, n, k, a0, a1, b0, b1,
    scale_a0, scale_b1, adjustment0, azp0, bias0, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64) * M + tl.arange(0, M)[:, None]
    col = tl.program_id(1).to(tl.int64) * N + tl.arange(0, N)[None, :]
    total = tl.zeros((M, N), tl.int32)
    for start in range(0, k, K):
        depth = start + tl.arange(0, K).to(tl.int64)
        along, down = depth[None, :], depth[:, None]
        a = tl.load(a_ptr + row * a0 + along * a1, mask=(row < m) & (along < k), other=0)
        b = tl.load(b_ptr + down * b0 + col * b1, mask=(down < k) & (col < n), other=0)
        total += tl.dot(a, b, out_dtype=tl.int32)
    adjustment = tl.load(adjustment_ptr + col * adjustment0, mask=col < n, other=0)
    if azp_ptr is not None:
        adjustment = adjustment * tl.load(azp_ptr + row * azp0, mask=row < m, other=0)
    scale_a = tl.load(scale_a_ptr + row * scale_a0, mask=row < m, other=0.0)
    out = (total - adjustment).to(tl.float32) * scale_a * tl.load(scale_b_ptr + col * scale_b1, mask=col < n, other=0.0)
    if bias_ptr is not None:
        out += tl.load(bias_ptr + col * bias0, mask=col < n, other=0.0).to(tl.float32)
    tl.store(out_ptr + row * n + col, out.to(out_ptr.dtype.element_ty), mask=(row < m) & (col < n))


def cutlass_scaled_mm_azp(a, b, scale_a, scale_b, out_dtype, azp_adj, azp=None, bias=None):
    (m, k), n = a.shape, b.shape[1]
    out = torch.empty((m, n), dtype=out_dtype, device=a.device)
    if out.numel():
        product_kernel[(triton.cdiv(m, 32), triton.cdiv(n, 32))](
            a, b, scale_a, scale_b, azp_adj, azp, bias, out, m, n, k, *a.stride(), *b.stride(),
            scale_a.stride(0) if scale_a.numel() > 1 else 0, scale_b.stride(1) if scale_b.numel() > 1 else 0,
            azp_adj.stride(0), 0 if azp is None else azp.stride(0), 0 if bias is None else bias.stride(0), M=32, N=32, K=32,
        )
    return out
