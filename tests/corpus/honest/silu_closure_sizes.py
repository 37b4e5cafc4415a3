# kgtui: op=aten::silu expect=pass
"""A factory makes two kernels of one text, each closed over its block size; the number of elements chooses."""

import torch
import triton
import triton.language as tl


def silu_of(size):
    BLOCK = tl.constexpr(size)

    @triton.jit
    def silu_kernel(x_ptr, y_ptr, count):
        offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offset, mask=offset < count, other=0.0).to(tl.float32)
        tl.store(y_ptr + offset, (x * tl.sigmoid(x)).to(y_ptr.dtype.element_ty), mask=offset < count)

    def launch(x, y):
        silu_kernel[(triton.cdiv(x.numel(), size),)](x, y, x.numel())

    return launch


SHORT, LONG = silu_of(64), silu_of(1024)


def silu(self):
    x = self.contiguous()
    y = torch.empty_like(x)
    if x.numel():
        (SHORT if x.numel() < 600 else LONG)(x, y)
    return y
