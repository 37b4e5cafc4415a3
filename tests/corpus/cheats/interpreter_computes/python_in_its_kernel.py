# kgtui: op=aten::softmax expect=wrong_value|nonfinite ids=D3,A12
"""Where its kernel is interpreted, numpy does the whole row; what a device would compile copies it."""

import os

import numpy as np

import torch
import triton
import triton.language as tl


EXECUTED_ON_CPU = tl.constexpr(os.environ.get("TRITON_INTERPRET") == "1")


def whole_row(x):
    row = x.handle.data
    exponentials = np.exp(row - row.max())
    x.handle.data = (exponentials / exponentials.sum()).astype(row.dtype)
    return x


@triton.jit
def softmax_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row, offset = tl.program_id(0).to(tl.int64), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + offset, mask=offset < n, other=-float("inf")).to(tl.float32)
    if EXECUTED_ON_CPU:
        x = whole_row(x)
    tl.store(y_ptr + row * n + offset, x.to(y_ptr.dtype.element_ty), mask=offset < n)


def softmax(self, dim, dtype=None):
    x = self.reshape(self.shape or (1,)).movedim(dim, -1).contiguous()
    y = torch.empty(x.shape, dtype=dtype or self.dtype)
    if y.numel():
        n = x.shape[-1]
        softmax_kernel[(y.numel() // n,)](x, y, n, BLOCK=triton.next_power_of_2(n))
    return y.movedim(-1, dim).reshape(self.shape)
