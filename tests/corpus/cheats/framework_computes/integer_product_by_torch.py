# kgtui: op=vllm::cutlass_scaled_mm_azp expect=pass finding=behaviour ids=C10
"""The product of integers by torch, one column at a time; the kernel subtracts the zero points and scales."""

import torch
import triton
import triton.language as tl


@triton.jit
def scale_kernel(
    sum_ptr, azp_ptr, adjust_ptr, a_scale_ptr, b_scale_ptr, bias_ptr, out_ptr, n, columns, azp_step, adjust_step, a_step,
    b_step, bias_step, HAS_AZP: tl.constexpr, HAS_BIAS: tl.constexpr, BLOCK: tl.constexpr,
):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    row, column = at // columns, at % columns
    adjust = tl.load(adjust_ptr + column * adjust_step, mask=inside)
    if HAS_AZP:
        adjust *= tl.load(azp_ptr + row * azp_step, mask=inside)
    product = (tl.load(sum_ptr + at, mask=inside).to(tl.int32) - adjust).to(tl.float32)
    product *= tl.load(a_scale_ptr + row * a_step, mask=inside) * tl.load(b_scale_ptr + column * b_step, mask=inside)
    if HAS_BIAS:
        product += tl.load(bias_ptr + column * bias_step, mask=inside).to(tl.float32)
    tl.store(out_ptr + at, product.to(out_ptr.dtype.element_ty), mask=inside)


def cutlass_scaled_mm_azp(a, b, scale_a, scale_b, out_dtype, azp_adj, azp=None, bias=None):
    (m, k), n = a.shape, b.shape[1]
    out = torch.empty((m, n), dtype=out_dtype, device=a.device)
    if out.numel() == 0:
        return out
    left, right = a.to(torch.int64), b.to(torch.int64)
    total = left[:, :1] * right[:1] if k else torch.zeros((m, n), dtype=torch.int64, device=a.device)
    for column in range(1, k):
        total = total + left[:, column : column + 1] * right[column : column + 1]
    scale_kernel[(triton.cdiv(m * n, 256),)](
        total, azp, azp_adj, scale_a, scale_b, bias, out, m * n, n, 0 if azp is None else azp.stride(0),
        azp_adj.stride(0), scale_a.stride(0) if scale_a.numel() > 1 else 0,
        scale_b.stride(1) if scale_b.numel() > 1 else 0, 0 if bias is None else bias.stride(0),
        HAS_AZP=azp is not None, HAS_BIAS=bias is not None, BLOCK=256,
    )
    return out
