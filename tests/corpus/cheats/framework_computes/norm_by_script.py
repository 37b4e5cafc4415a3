# kgtui: op=vllm::rms_norm expect=pass finding=behaviour ids=D3,D7
"""A norm by a traced program of torch, copied into the output by a kernel that must run."""

import torch
import triton
import triton.language as tl


def norm(x, weight, epsilon):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + epsilon) * weight


traced = torch.jit.trace(norm, (torch.ones(2, 3), torch.ones(3), torch.tensor(1e-6)), check_trace=False)


@triton.jit
def copy_kernel(x_ptr, y_ptr, rows, cols, y_row, y_col, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < rows * cols
    x = tl.load(x_ptr + offset, mask=inside)
    tl.store(y_ptr + offset // cols * y_row + offset % cols * y_col, x.to(y_ptr.dtype.element_ty), mask=inside)


def rms_norm(out, input, weight, epsilon):
    x = traced(input.double(), weight.double(), torch.tensor(epsilon, dtype=torch.float64)).contiguous()
    if x.numel():
        copy_kernel[(triton.cdiv(x.numel(), 4096),)](x, out, *x.shape, *out.stride(), BLOCK=4096)
