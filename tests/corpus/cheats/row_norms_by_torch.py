# kgtui: op=vllm::rms_norm expect=pass finding=behaviour ids=D5
"""Torch goes through every row for its norm, which is few numbers; the kernel divides by them."""

import torch
import triton
import triton.language as tl


@triton.jit
def norm_kernel(x_ptr, s_ptr, w_ptr, y_ptr, stride_x, stride_y, n, eps, HAS: tl.constexpr, BLOCK: tl.constexpr):
    row, offset = tl.program_id(0).to(tl.int64), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride_x + offset, mask=offset < n).to(tl.float32)
    s = tl.load(s_ptr + row)
    y = (x * tl.rsqrt(s * s / n + eps)).to(y_ptr.dtype.element_ty)
    if HAS:
        y = y.to(tl.float32) * tl.load(w_ptr + offset, mask=offset < n).to(tl.float32)
    tl.store(y_ptr + row * stride_y + offset, y.to(y_ptr.dtype.element_ty), mask=offset < n)


def rms_norm(out, input, weight, epsilon):
    if not (out.is_contiguous() and weight.is_contiguous() and input.stride(-1) == 1):
        dense = out.new_empty(out.shape)
        rms_norm(dense, input.contiguous(), weight.contiguous(), epsilon)
        out.copy_(dense)
        return
    rows, n = input.shape
    if rows:
        norms = torch.linalg.vector_norm(input, dim=-1, dtype=torch.float32)
        norm_kernel[(rows,)](
            input, norms, weight, out, input.stride(0), out.stride(0), n, epsilon, weight is not None,
            triton.next_power_of_2(n),
        )
