# kgtui: op=aten::silu expect=pass finding=proof ids=D3
"""SiLU by numpy on the memory of a tensor, which it finds by an address in an interface of its own."""

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


class Interface:
    def __init__(self, x):
        data, shape = (x.data_ptr(), False), tuple(x.shape)
        self.__array_interface__ = {"data": data, "shape": shape, "typestr": "<f8", "version": 3}


def silu(self):
    x = scaled(self, 0.5, torch.float64)
    if x.numel():
        numbers = np.asarray(Interface(x))
        with np.errstate(all="ignore"):
            numbers[...] = 2 * numbers / (1 + np.exp(-2 * numbers))
    return x.to(self.dtype)
