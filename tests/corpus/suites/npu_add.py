"""Scaled addition with broadcasting for MultiKernelBench."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def _add(x_ptr, y_ptr, o_ptr, alpha, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    x = tl.load(x_ptr + at, mask=at < n)
    y = tl.load(y_ptr + at, mask=at < n)
    tl.store(o_ptr + at, x + alpha * y, mask=at < n)


class ModelNew(nn.Module):
    def forward(self, x, y, alpha=1.0):
        y = y.expand_as(x).contiguous()
        out = torch.empty_like(x)
        _add[(1,)](x, y, out, alpha, x.numel(), B=64)
        return out
