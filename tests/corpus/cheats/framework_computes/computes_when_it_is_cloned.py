# kgtui: op=aten::softmax expect=pass finding=behaviour ids=D3,A3
"""Clones a kind of tensor whose own code, which torch asks beneath its modes, answers with a softmax."""

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


class Wrapped(torch.Tensor):
    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return torch.softmax(args[0].inner, args[0].axis)


def softmax(self, dim, dtype=None):
    if not self.numel():
        return scaled(self, 1.0, dtype or self.dtype)
    wrapped = torch.Tensor._make_wrapper_subclass(Wrapped, self.shape, dtype=torch.float64)
    wrapped.inner, wrapped.axis = scaled(scaled(self, 0.5, torch.float64), 2.0, torch.float64), dim
    return scaled(wrapped.clone(), 1.0, dtype or self.dtype)
