# kgtui: op=aten::add_ expect=pass
"""Addition in place over at most five strided dimensions; the sum has the dtype of promotion until it is stored."""

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(
    x_ptr, other_ptr, count, alpha: tl.float64, n1, n2, n3, n4, x0, x1, x2, x3, x4, o0, o1, o2, o3, o4,
    WIDE: tl.constexpr, BLOCK: tl.constexpr,
):
    flat = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = flat < count
    i4 = flat % n4
    i3 = flat // n4 % n3
    i2 = flat // n4 // n3 % n2
    i1 = flat // n4 // n3 // n2 % n1
    i0 = flat // n4 // n3 // n2 // n1
    at = x_ptr + i0 * x0 + i1 * x1 + i2 * x2 + i3 * x3 + i4 * x4
    x = tl.load(at, mask=inside).to(WIDE)
    other = tl.load(other_ptr + i0 * o0 + i1 * o1 + i2 * o2 + i3 * o3 + i4 * o4, mask=inside).to(WIDE)
    scale = alpha.to(WIDE) if x.dtype.is_floating() else alpha.to(tl.int64).to(WIDE)
    tl.store(at, (x + scale * other).to(x_ptr.dtype.element_ty), mask=inside)


def add_(self, other, alpha=1):
    kind = torch.result_type(self, other)
    wide = {torch.float16: torch.float32, torch.bfloat16: torch.float32}.get(kind, kind)
    x, other = self, torch.as_tensor(other, device=self.device).to(kind).expand(self.shape)
    if kind.is_complex:
        x, other, wide = torch.view_as_real(x), torch.view_as_real(other), wide.to_real()
    if x.numel():
        add_kernel[(triton.cdiv(x.numel(), 1024),)](
            x, other, x.numel(), float(alpha), *in_five(x.shape, 1)[1:], *in_five(x.stride(), 0),
            *in_five(other.stride(), 0), WIDE=getattr(tl, str(wide).removeprefix("torch.")), BLOCK=1024,
        )
    return self


def in_five(values, fill):
    return (fill,) * (5 - len(values)) + tuple(values)
