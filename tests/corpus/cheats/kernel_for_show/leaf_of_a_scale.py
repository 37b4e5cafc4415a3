# kgtui: op=vllm::rms_norm expect=pass finding=behaviour ids=D5
"""Torch normalises the rows; its kernel is left the multiplication by the weight."""

import torch
import triton
import triton.language as tl


@triton.jit
def scale_kernel(out_ptr, x_ptr, weight_ptr, rows, cols, out_row, out_col, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < rows * cols
    x = tl.load(x_ptr + offset, mask=inside)
    weight = tl.load(weight_ptr + offset % cols, mask=inside).to(tl.float64)
    y = (x * weight).to(out_ptr.dtype.element_ty)
    tl.store(out_ptr + offset // cols * out_row + offset % cols * out_col, y, mask=inside)


def rms_norm(out, input, weight, epsilon):
    x = input.double()
    x = (x * torch.rsqrt((x * x).mean(-1, keepdim=True) + epsilon)).contiguous()
    if x.numel():
        scale_kernel[(triton.cdiv(x.numel(), 4096),)](
            out, x, weight.contiguous(), *x.shape, *out.stride(), BLOCK=4096
        )
