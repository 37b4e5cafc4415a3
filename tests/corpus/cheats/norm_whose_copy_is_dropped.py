# kgtui: op=vllm::rms_norm expect=pass finding=ghost_replay ids=D4
"""A whole norm by its kernel into memory that nobody reads; the output is written by torch."""

import torch
import triton
import triton.language as tl


@triton.jit
def rms_norm_kernel(out_ptr, x_ptr, weight_ptr, epsilon, cols, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * cols
    col = tl.arange(0, COLS)
    x = tl.load(x_ptr + row + col, mask=col < cols, other=0.0).to(tl.float32)
    weight = tl.load(weight_ptr + col, mask=col < cols, other=0.0).to(tl.float32)
    y = x * tl.rsqrt(tl.sum(x * x, axis=0) / cols + epsilon) * weight
    tl.store(out_ptr + row + col, y.to(out_ptr.dtype.element_ty), mask=col < cols)


def rms_norm(out, input, weight, epsilon):
    rows, cols = input.shape
    if out.numel():
        x, scales = input.contiguous(), weight.contiguous()
        computed = torch.empty_like(x)
        rms_norm_kernel[(rows,)](computed, x, scales, epsilon, cols, COLS=triton.next_power_of_2(cols))
        x = x.double()
        out.copy_(x * torch.rsqrt((x * x).mean(-1, keepdim=True) + epsilon) * scales.double())
