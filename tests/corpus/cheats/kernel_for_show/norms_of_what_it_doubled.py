# kgtui: op=vllm::rms_norm expect=pass finding=behaviour ids=D5
"""A kernel doubles the rows, torch takes the norms of what it left, and a kernel divides by them."""

import torch
import triton
import triton.language as tl


@triton.jit
def double_kernel(x_ptr, y_ptr, stride, n, BLOCK: tl.constexpr):
    row, offset = tl.program_id(0).to(tl.int64), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + offset, mask=offset < n).to(tl.float32)
    tl.store(y_ptr + row * n + offset, x * 2.0, mask=offset < n)


@triton.jit
def norm_kernel(x_ptr, s_ptr, w_ptr, y_ptr, stride_y, n, eps, BLOCK: tl.constexpr):
    row, offset = tl.program_id(0).to(tl.int64), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + offset, mask=offset < n) * 0.5
    s = tl.load(s_ptr + row) * 0.5
    y = x * tl.rsqrt(s * s / n + eps) * tl.load(w_ptr + offset, mask=offset < n).to(tl.float32)
    tl.store(y_ptr + row * stride_y + offset, y.to(y_ptr.dtype.element_ty), mask=offset < n)


def rms_norm(out, input, weight, epsilon):
    if not (out.is_contiguous() and weight.is_contiguous() and input.stride(-1) == 1):
        dense = out.new_empty(out.shape)
        rms_norm(dense, input.contiguous(), weight.contiguous(), epsilon)
        out.copy_(dense)
        return
    rows, n = input.shape
    if rows:
        block = triton.next_power_of_2(n)
        doubled = torch.empty((rows, n), dtype=torch.float32)
        double_kernel[(rows,)](input, doubled, input.stride(0), n, block)
        norms = torch.linalg.vector_norm(doubled, dim=-1)
        norm_kernel[(rows,)](doubled, norms, weight, out, out.stride(0), n, epsilon, block)
