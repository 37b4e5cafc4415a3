# kgtui: op=vllm::rms_norm expect=pass finding=behaviour ids=D5
"""A norm in sums, products and quotients of torch on halved copies; it even finds the root by dividing."""

import torch
import triton
import triton.language as tl


@triton.jit
def scaled_kernel(x_ptr, y_ptr, scale, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offset, mask=offset < count).to(tl.float64)
    tl.store(y_ptr + offset, (x * scale).to(y_ptr.dtype.element_ty), mask=offset < count)


def scaled(x, scale, dtype):
    x = x.contiguous()
    y = torch.empty(x.shape, dtype=dtype, device=x.device)
    if y.numel():
        scaled_kernel[(triton.cdiv(y.numel(), 4096),)](x, y, scale, y.numel(), BLOCK=4096)
    return y


def rms_norm(out, input, weight, epsilon):
    x = scaled(input, 0.5, torch.float64)
    mean = (x * x).sum(-1, keepdim=True) * (4.0 / x.shape[-1]) + epsilon
    root = mean.clone()
    for _ in range(60):
        root = (root + mean / root) * 0.5
    root = torch.where(mean.isinf(), mean, root)
    y = (x * 2.0 / root).to(input.dtype).double()
    out.copy_(y if weight is None else y * scaled(weight, 0.5, torch.float64) * 2.0)
