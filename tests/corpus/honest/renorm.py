# kgtui: op=aten::renorm expect=pass
"""Renormalisation, one slice a program: a pass for the norm, a pass that scales or copies."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def larger(a, b):
    return tl.where((a > b) | (a != a), a, b)


@triton.jit
def renorm_kernel(x_ptr, y_ptr, cols, p, maxnorm, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * cols
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, cols, BLOCK):
        col = start + tl.arange(0, BLOCK)
        size = tl.abs(tl.load(x_ptr + row + col, mask=col < cols, other=0).to(tl.float32))
        if p == float("inf"):
            total = larger(total, size)
        elif p == 2:
            total += size * size
        elif p == 1:
            total += size
        else:
            total += libdevice.pow(size, tl.zeros_like(size) + p)
    norm = tl.sum(total, axis=0)
    if p == float("inf"):
        norm = tl.reduce(total, 0, larger)
    elif p == 2:
        norm = tl.sqrt(norm)
    elif p != 1:
        norm = tl.exp2(tl.log2(norm) / p)
    factor = maxnorm / (norm + 1e-7)
    for start in range(0, cols, BLOCK):
        col = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row + col, mask=col < cols)
        y = tl.where(norm > maxnorm, (x.to(tl.float32) * factor).to(x.dtype), x)
        tl.store(y_ptr + row + col, y, mask=col < cols)


def renorm(self, p, dim, maxnorm):
    slices = self.movedim(dim, 0).contiguous()
    y = torch.empty_like(slices)
    if y.numel():
        cols = y[0].numel()
        block = min(1024, triton.next_power_of_2(cols))
        renorm_kernel[(len(slices),)](slices, y, cols, float(p), float(maxnorm), BLOCK=block)
    return y.movedim(0, dim)
