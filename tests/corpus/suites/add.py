"""Scaled addition for TritonBench T; alpha is a keyword."""

import torch
import triton
import triton.language as tl


@triton.jit
def _add(x_ptr, y_ptr, o_ptr, alpha, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    x = tl.load(x_ptr + at, mask=at < n)
    y = tl.load(y_ptr + at, mask=at < n)
    tl.store(o_ptr + at, x + alpha * y, mask=at < n)


def add(input, other, *, alpha=1, out=None):
    if not isinstance(other, torch.Tensor):
        other = torch.full_like(input, other)
    result = torch.empty_like(input)
    _add[(1,)](input, other, result, alpha, input.numel(), B=64)
    return result
