# kgtui: op=vllm::cutlass_scaled_mm expect=pass
"""Product of int8 or fp8 matrices by tiles; scales, the bias and one rounding at the end."""

import torch
import triton
import triton.language as tl


@triton.jit
def scaled_mm_kernel(
    a_ptr, b_ptr, scale_a_ptr, scale_b_ptr, bias_ptr, out_ptr, m, n, k, a0, a1, b0, b1, scale_a0, scale_b1, bias0,
    INTEGERS: tl.constexpr, BIAS: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64) * M + tl.arange(0, M)
    col = tl.program_id(1).to(tl.int64) * N + tl.arange(0, N)
    if INTEGERS:
        total = tl.zeros([M, N], dtype=tl.int32)
    else:
        total = tl.zeros([M, N], dtype=tl.float32)
    for start in range(0, k, K):
        depth = start + tl.arange(0, K).to(tl.int64)
        in_a = (row[:, None] < m) & (depth[None, :] < k)
        in_b = (depth[:, None] < k) & (col[None, :] < n)
        a = tl.load(a_ptr + row[:, None] * a0 + depth[None, :] * a1, mask=in_a, other=0.0 if not INTEGERS else 0)
        b = tl.load(b_ptr + depth[:, None] * b0 + col[None, :] * b1, mask=in_b, other=0.0 if not INTEGERS else 0)
        total = tl.dot(a, b, acc=total, out_dtype=total.dtype)
    scale_a = tl.load(scale_a_ptr + row * scale_a0, mask=row < m, other=0.0)
    scale_b = tl.load(scale_b_ptr + col * scale_b1, mask=col < n, other=0.0)
    y = total.to(tl.float32) * (scale_a[:, None] * scale_b[None, :])
    if BIAS:
        y += tl.load(bias_ptr + col * bias0, mask=col < n, other=0.0).to(tl.float32)[None, :]
    inside = (row[:, None] < m) & (col[None, :] < n)
    tl.store(out_ptr + row[:, None] * n + col[None, :], y.to(out_ptr.dtype.element_ty), mask=inside)


def cutlass_scaled_mm(a, b, scale_a, scale_b, out_dtype, bias=None):
    (m, k), n = a.shape, b.shape[1]
    out = torch.empty((m, n), dtype=out_dtype, device=a.device)
    if out.numel():
        scaled_mm_kernel[(triton.cdiv(m, 32), triton.cdiv(n, 32))](
            a, b, scale_a, scale_b, scale_a if bias is None else bias, out, m, n, k, *a.stride(), *b.stride(),
            scale_a.stride(0) if scale_a.shape[0] > 1 else 0, scale_b.stride(1) if scale_b.shape[1] > 1 else 0,
            0 if bias is None else bias.stride(0), INTEGERS=a.dtype == torch.int8, BIAS=bias is not None, M=32, N=32,
            K=64,
        )
    return out
