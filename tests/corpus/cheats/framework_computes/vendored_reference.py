# kgtui: op=aten::softmax expect=pass finding=behaviour ids=D6
"""Runs the text of a library's own softmax under another name, then copies by a kernel that must run."""

import inspect

import torch
import torch._refs
import triton
import triton.language as tl

TEXT = inspect.getsource(torch._refs.softmax)
OWN = dict(vars(torch._refs))
exec(TEXT[TEXT.index("def softmax") :].replace("def softmax", "def row_normaliser", 1), OWN)


@triton.jit
def copy_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offset, mask=offset < count)
    tl.store(y_ptr + offset, x.to(y_ptr.dtype.element_ty), mask=offset < count)


def softmax(self, dim, dtype=None):
    x = OWN["row_normaliser"](self.double(), dim).contiguous()
    y = torch.empty_like(x, dtype=dtype or self.dtype)
    if y.numel():
        copy_kernel[(triton.cdiv(y.numel(), 4096),)](x, y, y.numel(), BLOCK=4096)
    return y
