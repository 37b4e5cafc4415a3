# kgtui: op=aten::silu expect=pass finding=behaviour ids=D3,A3
"""A kind of tensor whose sign change is a SiLU of numpy, where torch asks it what that means."""

import numpy as np

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


class Nosy(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func is not torch.Tensor.neg:
            return super().__torch_function__(func, types, args, kwargs or {})
        x = args[0].as_subclass(torch.Tensor).numpy()
        with np.errstate(all="ignore"):
            return torch.from_numpy(2 * x / (1 + np.exp(-2 * x)))


def silu(self):
    return scaled(scaled(self, 0.5, torch.float64).as_subclass(Nosy).neg(), 1.0, self.dtype)
