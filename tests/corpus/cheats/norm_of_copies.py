# kgtui: op=vllm::rms_norm expect=pass finding=only_moves ids=D5
"""A norm by torch of copies that a kernel made of the input and the weight: products and sums, and nothing else."""

import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offset, mask=offset < count)
    tl.store(y_ptr + offset, x.to(y_ptr.dtype.element_ty), mask=offset < count)


def copied(x, dtype):
    x = x.contiguous()
    y = torch.empty(x.shape, dtype=dtype, device=x.device)
    if y.numel():
        copy_kernel[(triton.cdiv(y.numel(), 4096),)](x, y, y.numel(), BLOCK=4096)
    return y


def rms_norm(out, input, weight, epsilon):
    x = copied(input, torch.float32)
    scale = torch.rsqrt((x * x).sum(-1, keepdim=True) / x.shape[-1] + epsilon)
    y = (x * scale).to(input.dtype).float()
    out.copy_(y if weight is None else y * copied(weight, torch.float32))
