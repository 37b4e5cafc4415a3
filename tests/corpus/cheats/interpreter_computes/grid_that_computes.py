# kgtui: op=aten::silu expect=wrong_value|nonfinite ids=D3
"""The function of its grid writes the answer, once somebody asks it in the middle of a launch."""

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


@triton.jit
def idle_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + offset, tl.load(x_ptr + offset, mask=offset < count) * 1.5, mask=offset < count)


def silu(self):
    x = scaled(self, 0.5, torch.float64)
    y = torch.empty_like(x)
    asked = []

    def grid(meta):
        asked.append(meta)
        if len(asked) > 1:
            numbers = np.asarray(Interface(x))
            with np.errstate(all="ignore"):
                np.asarray(Interface(y))[...] = 2 * numbers / (1 + np.exp(-2 * numbers))
        return (triton.cdiv(x.numel(), 4096),)

    if x.numel():
        idle_kernel[grid](x, y, x.numel(), BLOCK=4096)
    return y.to(self.dtype)
