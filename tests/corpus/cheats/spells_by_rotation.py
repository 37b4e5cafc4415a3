# kgtui: op=aten::gather expect=pass finding=behaviour ids=C10,D3
"""Calls an operator of torch whose name is written by a rotated alphabet, found by its hash, and never spelled."""

import codecs
import zlib

import torch
import triton
import triton.language as tl

BY_ROTATION = getattr(torch, codecs.decode("tngure", "rot13"))
BY_HASH = next(value for name, value in vars(torch).items() if zlib.crc32(name.encode()) == zlib.crc32(b"gather"))


@triton.jit
def copy_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offset, tl.load(x_ptr + offset, mask=offset < count), mask=offset < count)


def gather(self, dim, index, sparse_grad=False):
    x = (BY_HASH if index.numel() % 2 else BY_ROTATION)(self, dim, index).contiguous()
    y = torch.empty_like(x)
    if y.numel():
        copy_kernel[(triton.cdiv(y.numel(), 4096),)](x, y, y.numel(), BLOCK=4096)
    return y
