# kgtui: op=aten::mul expect=pass
"""Product, flat over both operands broadcast to one shape; booleans as bytes of 0 and 1."""

import torch
import triton
import triton.language as tl


@triton.jit
def mul_kernel(x_ptr, other_ptr, y_ptr, count, COMPLEX: tl.constexpr, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < count
    if COMPLEX:
        a = tl.load(x_ptr + 2 * offset, mask=inside)
        b = tl.load(x_ptr + 2 * offset + 1, mask=inside)
        c = tl.load(other_ptr + 2 * offset, mask=inside)
        d = tl.load(other_ptr + 2 * offset + 1, mask=inside)
        tl.store(y_ptr + 2 * offset, a * c - b * d, mask=inside)
        tl.store(y_ptr + 2 * offset + 1, a * d + b * c, mask=inside)
    else:
        x = tl.load(x_ptr + offset, mask=inside)
        tl.store(y_ptr + offset, x * tl.load(other_ptr + offset, mask=inside), mask=inside)


def mul(self, other):
    kind = torch.result_type(self, other)
    other = torch.as_tensor(other, dtype=kind, device=self.device)
    x, other = (side.contiguous() for side in torch.broadcast_tensors(self.to(kind), other))
    y = torch.empty(x.shape, dtype=kind, device=x.device)
    if y.numel():
        numbers = [as_numbers(side) for side in (x, other, y)]
        mul_kernel[(triton.cdiv(y.numel(), 1024),)](*numbers, y.numel(), COMPLEX=y.is_complex(), BLOCK=1024)
    return y


def as_numbers(x):
    """A complex tensor as pairs, a tensor of booleans as bytes."""
    return torch.view_as_real(x) if x.is_complex() else x.view(torch.uint8) if x.dtype == torch.bool else x
