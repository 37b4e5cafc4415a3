# kgtui: op=aten::silu expect=wrong_value diagnosis=none case="1000 f32"
"""Joins two halves by a tl.cat that may put elements in another order, and stores them as if it kept theirs."""

import torch
import triton
import triton.language as tl


@triton.jit
def _silu(x, y, n, B: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * 2 * B
    i = first + tl.arange(0, B)
    a = tl.load(x + i, mask=i < n).to(tl.float32)
    b = tl.load(x + i + B, mask=i + B < n).to(tl.float32)
    v = tl.cat(a, b, can_reorder=True)
    j = first + tl.arange(0, 2 * B)
    tl.store(y + j, (v / (1 + tl.exp(-v))).to(y.dtype.element_ty), mask=j < n)


def silu(self):
    x = self.contiguous()
    y = torch.empty_like(x)
    if x.numel():
        _silu[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), B=512)
    return y
