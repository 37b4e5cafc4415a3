# kgtui: op=aten::select_backward expect=pass
"""A gradient in a tensor of zeros: the kernel writes both, 0 wherever the coordinate is not the index."""

import torch
import triton
import triton.language as tl


@triton.jit
def place_kernel(
    grad_ptr, y_ptr, count, n1, n2, n3, n4, g0, g1, g2, g3, g4, size, inner, index,
    BLOCK: tl.constexpr,
):
    flat = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = flat < count
    i4 = flat % n4
    i3 = flat // n4 % n3
    i2 = flat // n4 // n3 % n2
    i1 = flat // n4 // n3 // n2 % n1
    i0 = flat // n4 // n3 // n2 // n1
    chosen = inside & (flat // inner % size == index)
    # The stride of the selected dimension is 0 among g0..g4.
    grad = tl.load(grad_ptr + i0 * g0 + i1 * g1 + i2 * g2 + i3 * g3 + i4 * g4, mask=chosen, other=0)
    tl.store(y_ptr + flat, grad, mask=inside)


def select_backward(grad_output, input_sizes, dim, index):
    if grad_output.is_complex():
        parts, dim = torch.view_as_real(grad_output), dim % len(input_sizes)
        return torch.view_as_complex(select_backward(parts, [*input_sizes, 2], dim, index))
    y = torch.empty(input_sizes, dtype=grad_output.dtype, device=grad_output.device)
    if y.numel() == 0:
        return y
    dim %= len(input_sizes)
    size = input_sizes[dim]
    strides = list(grad_output.stride())
    strides.insert(dim, 0)
    inner = y[(0,) * (dim + 1)].numel()
    sizes, grad, target = list(input_sizes), grad_output, y
    while len(sizes) > 5:  # neighbours that a single stride crosses
        pair = next(n for n in range(len(sizes) - 1) if n != dim and n + 1 != dim
                    and strides[n] == sizes[n + 1] * strides[n + 1])
        sizes[pair : pair + 2], strides[pair : pair + 2] = [sizes[pair] * sizes[pair + 1]], [strides[pair + 1]]
        dim -= dim > pair
    pad = 5 - len(sizes)
    if grad.dtype == torch.bool:
        grad, target = grad.view(torch.int8), y.view(torch.int8)
    block = 1024
    place_kernel[(triton.cdiv(y.numel(), block),)](
        grad, target, y.numel(), *((1,) * pad + tuple(sizes))[1:], *((0,) * pad + tuple(strides)),
        size, inner, index % size, BLOCK=block,
    )
    return y
