# kgtui: op=aten::silu expect=compile_error
"""A bracket is never closed, so that the file is no Python: the parser stops at line 12."""

import torch
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offset, mask=offset < count, other=0.0
    tl.store(y_ptr + offset, x * tl.sigmoid(x), mask=offset < count)


def silu(self):
    y = torch.empty_like(self)
    silu_kernel[(triton.cdiv(y.numel(), 1024),)](self, y, y.numel(), BLOCK=1024)
    return y
