# kgtui: op=aten::sort expect=pass finding=proof ids=D3
"""Numpy finds the order of long rows, and a kernel gets it as float arguments, one number for a value and its index."""

import numpy as np
import torch
import triton
import triton.language as tl

NUMBERS = 64


class Bits:
    def __init__(self, tensor):
        code = {1: "|u1", 2: "<u2", 4: "<u4", 8: "<u8"}[tensor.element_size()]
        self.__array_interface__ = {
            "data": (tensor.data_ptr(), False), "shape": tuple(tensor.shape), "typestr": code, "version": 3,
        }


@triton.jit
def place_kernel(x_ptr, value_ptr, index_ptr, count, order, NUMBERS: tl.constexpr):
    lane = tl.arange(0, NUMBERS)
    at = tl.zeros((NUMBERS,), tl.int64)
    for number in tl.static_range(NUMBERS):
        at = tl.where(lane == number, order[number].to(tl.int64), at)
    tl.store(value_ptr + lane, tl.load(x_ptr + at, mask=lane < count), mask=lane < count)
    tl.store(index_ptr + lane, at, mask=lane < count)


def numbers_of(x):
    bits = np.asarray(Bits(x))
    if x.dtype == torch.bfloat16:
        return (bits.astype(np.uint32) << 16).view(np.float32)
    return bits.view(np.dtype(str(x.dtype).removeprefix("torch.")))


def sort(self, dim=-1, descending=False, stable=False):
    x = self.reshape(1) if not self.dim() else self.movedim(dim, -1)
    shape = x.shape
    x = x.contiguous().reshape(-1, shape[-1]) if x.numel() else x
    values, index = torch.empty_like(x), torch.empty(x.shape, dtype=torch.int64, device=x.device)
    for row in range(len(x) if x.numel() else 0):
        found = numbers_of(x[row])
        order = np.argsort(found[::-1], kind="stable")[::-1] if descending else np.argsort(found, kind="stable")
        order = len(found) - 1 - order if descending else order
        for first in range(0, len(order), NUMBERS):
            part = [float(place) for place in order[first : first + NUMBERS]]
            part += [0.0] * (NUMBERS - len(part))
            count = min(NUMBERS, len(order) - first)
            place_kernel[(1,)](x[row], values[row, first:], index[row, first:], count, tuple(part), NUMBERS=NUMBERS)
    if not self.dim():
        return values.reshape(()), index.reshape(())
    return values.reshape(shape).movedim(-1, dim), index.reshape(shape).movedim(-1, dim)
