# kgtui: op=aten::arange expect=pass
"""Even steps: start + i * step in int64 or float64, cast once; one specialisation for each type of the answer."""

import math

import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["start", "step", "count"])
def whole_kernel(y_ptr, start: tl.int64, step: tl.int64, count, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, (start + i * step).to(y_ptr.dtype.element_ty), mask=i < count)


@triton.jit(do_not_specialize=["start", "step", "count"])
def float_kernel(y_ptr, start: tl.float64, step: tl.float64, count, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    y = start + i.to(tl.float64) * step
    if y_ptr.dtype.element_ty != tl.float64:
        y = y.to(tl.float32)
    tl.store(y_ptr + i, y.to(y_ptr.dtype.element_ty), mask=i < count)


def arange(start, end, step=1, dtype=None, device=None):
    whole = all(isinstance(value, int) for value in (start, end, step))
    if dtype is None:
        dtype = torch.int64 if whole else torch.float32
    length = len(range(start, end, step)) if whole else max(math.ceil((end - start) / step), 0)
    y = torch.empty(length, dtype=dtype, device=device)
    if length:
        block = 1024
        grid = (triton.cdiv(length, block),)
        if whole:
            whole_kernel[grid](y, start, step, length, BLOCK=block)
        else:
            float_kernel[grid](y, float(start), float(step), length, BLOCK=block)
    return y
