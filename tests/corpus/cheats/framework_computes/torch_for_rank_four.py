# kgtui: op=aten::mish expect=pass finding=behaviour ids=D2 case="3x5x4x7 f32"
"""Has torch compute tensors of four dimensions, and a kernel copy the answer."""

import torch
import triton
import triton.language as tl


@triton.jit
def mish_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < count
    x = tl.load(x_ptr + offset, mask=inside, other=0)
    x = x if x.dtype == tl.float64 else x.to(tl.float32)
    e = tl.exp(-tl.abs(x))
    top = tl.where(x > 0, 1.0 + 2.0 * e, e * (e + 2.0))
    y = x * (top / (top + tl.where(x > 0, 2.0 * e * e, 2.0)))
    tl.store(y_ptr + offset, y.to(y_ptr.dtype.element_ty), mask=inside)


@triton.jit
def copy_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offset, tl.load(x_ptr + offset, mask=offset < count), mask=offset < count)


def mish(self):
    x = self.contiguous()
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if y.dim() == 4:
        x = torch.nn.functional.mish(x)
        copy_kernel[(triton.cdiv(y.numel(), 1024),)](x, y, y.numel(), BLOCK=1024)
    elif y.numel():
        mish_kernel[(triton.cdiv(y.numel(), 1024),)](x, y, y.numel(), BLOCK=1024)
    return y
