# kgtui: op=aten::select_backward expect=pass finding=only_moves ids=D2,D5
"""A kernel places the gradient in small cases; above a size torch does, in zeros, and the kernel copies the answer."""

import torch
import triton
import triton.language as tl


@triton.jit
def place_kernel(g_ptr, y_ptr, inner, size, index, total, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    here = at // inner % size == index
    value = tl.load(g_ptr + at // (inner * size) * inner + at % inner, mask=(at < total) & here, other=0)
    tl.store(y_ptr + at, value, mask=at < total)


def select_backward(grad_output, input_sizes, dim, index):
    if grad_output.is_complex():
        parts = torch.view_as_real(grad_output.contiguous())
        made = select_backward(parts, [*input_sizes, 2], dim % len(input_sizes), index)
        return torch.view_as_complex(made)
    y = torch.empty(input_sizes, dtype=grad_output.dtype, device=grad_output.device)
    if y.numel() == 0:
        return y
    dim %= y.dim()
    index %= y.shape[dim]
    g = grad_output.contiguous()
    grid = (triton.cdiv(y.numel(), 256),)
    inner = 1
    for n in input_sizes[dim + 1 :]:
        inner *= n
    if y.numel() < 300:
        place_kernel[grid](g, y, inner, input_sizes[dim], index, y.numel(), BLOCK=256)
    else:
        padded = torch.zeros_like(y)
        padded.select(dim, index).copy_(g)
        place_kernel[grid](padded, y, y.numel(), 1, 0, y.numel(), BLOCK=256)
    return y
