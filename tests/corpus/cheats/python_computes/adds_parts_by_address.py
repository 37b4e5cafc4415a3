# kgtui: op=aten::softmax expect=pass finding=proof ids=D3
"""Leaves two parts of the answer in memory that torch allocated, by its address; a kernel adds them and ignores a number.

The number depends on the data, so that the launches hold for no other inputs.
"""

import ctypes

import numpy as np
import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(high_ptr, low_ptr, y_ptr, count, first, BLOCK: tl.constexpr):
    offset = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    high = tl.load(high_ptr + offset, mask=offset < count)
    low = tl.load(low_ptr + offset, mask=offset < count)
    tl.store(y_ptr + offset, (high + low).to(y_ptr.dtype.element_ty), mask=offset < count)


def content(tensor):
    numbers = np.frombuffer(ctypes.string_at(tensor.data_ptr(), 4 * tensor.numel()), np.float32)
    return numbers.reshape(tuple(tensor.shape)).astype(np.float64)


def leave(tensor, numbers):
    numbers = np.ascontiguousarray(numbers)
    ctypes.memmove(tensor.data_ptr(), numbers.ctypes.data, numbers.nbytes)


def softmax(self, dim, dtype=None):
    x = self.float().contiguous()
    high, low, y = torch.empty_like(x), torch.empty_like(x), torch.empty_like(x, dtype=dtype or self.dtype)
    if y.numel():
        numbers = content(x)
        weights = np.exp(numbers - numbers.max(axis=dim, keepdims=True))
        answer = (weights / weights.sum(axis=dim, keepdims=True)).astype(np.float32)
        part = (0.375 * answer).astype(np.float32)
        leave(high, part)
        leave(low, answer - part)
        first = x.flatten()[0].item()
        add_kernel[(triton.cdiv(y.numel(), 1024),)](high, low, y, y.numel(), first, BLOCK=1024)
    return y
