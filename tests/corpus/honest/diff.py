# kgtui: op=aten::diff expect=pass
"""Forward difference: one launch a step; bool differs by exclusive or."""

import torch
import triton
import triton.language as tl


@triton.jit
def diff_kernel(
    x_ptr, y_ptr, count, n1, n2, n3, n4, x0, x1, x2, x3, x4, step, IS_BOOL: tl.constexpr, BLOCK: tl.constexpr,
):
    flat = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = flat < count
    i4 = flat % n4
    i3 = flat // n4 % n3
    i2 = flat // n4 // n3 % n2
    i1 = flat // n4 // n3 // n2 % n1
    i0 = flat // n4 // n3 // n2 // n1
    at = x_ptr + i0 * x0 + i1 * x1 + i2 * x2 + i3 * x3 + i4 * x4
    before = tl.load(at, mask=inside)
    after = tl.load(at + step, mask=inside)
    y = (after ^ before) if IS_BOOL else (after - before)
    tl.store(y_ptr + flat, y.to(y_ptr.dtype.element_ty), mask=inside)


def in_five(values, fill):
    return (fill,) * (5 - len(values)) + tuple(values)


def diff(self, n=1, dim=-1, prepend=None, append=None):
    x = torch.cat([part for part in (prepend, self, append) if part is not None], dim)
    block = 1024
    for _ in range(min(n, x.shape[dim])):
        sizes = list(x.shape)
        sizes[dim] -= 1
        y = torch.empty(sizes, dtype=x.dtype, device=x.device)
        if y.numel():
            diff_kernel[(triton.cdiv(y.numel(), block),)](
                x, y, y.numel(), *in_five(sizes, 1)[1:], *in_five(x.stride(), 0), x.stride(dim),
                IS_BOOL=x.dtype == torch.bool, BLOCK=block,
            )
        x = y
    return x
