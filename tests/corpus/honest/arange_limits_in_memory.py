# kgtui: op=aten::arange expect=pass
"""Even steps: start + i * step, with start and step in a small tensor of float64 or int64 made by the host."""

import torch
import triton
import triton.language as tl


@triton.jit
def arange_kernel(limits_ptr, y_ptr, count, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    start, step = tl.load(limits_ptr), tl.load(limits_ptr + 1)
    y = start + i.to(start.dtype) * step
    if start.dtype == tl.float64 and y_ptr.dtype.element_ty != tl.float64:
        y = y.to(tl.float32)
    tl.store(y_ptr + i, y.to(y_ptr.dtype.element_ty), mask=i < count)


def arange(start, end, step=1, dtype=None, device=None):
    whole = all(isinstance(value, int) for value in (start, end, step))
    if dtype is None:
        dtype = torch.int64 if whole else torch.float32
    length = len(range(start, end, step)) if whole else max(-int((start - end) // step), 0)
    y = torch.empty(length, dtype=dtype, device=device)
    if length:
        limits = torch.tensor([start, step], dtype=torch.int64 if whole else torch.float64, device=device)
        block = 1024
        arange_kernel[(triton.cdiv(length, block),)](limits, y, length, BLOCK=block)
    return y
