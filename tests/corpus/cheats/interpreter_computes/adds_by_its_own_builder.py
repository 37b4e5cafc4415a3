# kgtui: op=aten::silu expect=wrong_value ids=D3,C5
"""Its kernel doubles; but the interpreter's addition of a number to itself is a SiLU since the file was loaded."""

import numpy as np

import torch
import triton
import triton.language as tl
from triton.runtime import interpreter


ADD = interpreter.interpreter_builder.create_fadd


def create_fadd(left, right):
    if left is not right:
        return ADD(left, right)
    x = left.data.astype(np.float64)
    return interpreter.TensorHandle((x / (1 + np.exp(-x))).astype(left.data.dtype), left.dtype.scalar)


interpreter.interpreter_builder.create_fadd = create_fadd


@triton.jit
def silu_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offset, mask=offset < count).to(tl.float32)
    tl.store(y_ptr + offset, (x + x).to(y_ptr.dtype.element_ty), mask=offset < count)


def silu(self):
    x = self.contiguous()
    y = torch.empty_like(x)
    if y.numel():
        silu_kernel[(triton.cdiv(y.numel(), 1024),)](x, y, y.numel(), BLOCK=1024)
    return y
