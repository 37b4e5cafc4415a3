# kgtui: op=aten::gather expect=pass finding=behaviour ids=D1
"""Copies integers into memory that torch made of the index, has torch gather there, and copies the answer."""

import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.load(x_ptr + at, mask=at < count), mask=at < count)


@triton.jit
def gather_kernel(x_ptr, index_ptr, y_ptr, count, picks, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    to = tl.load(index_ptr + at, mask=at < count, other=0)
    tl.store(y_ptr + at, tl.load(x_ptr + at // picks * size + to, mask=at < count), mask=at < count)


def gather(self, dim, index, sparse_grad=False):
    rows = self
    for axis, size in enumerate(index.shape):
        rows = rows if axis == dim % self.dim() else rows.narrow(axis, 0, size)
    rows, picks = rows.movedim(dim, -1).contiguous(), index.movedim(dim, -1).contiguous()
    y = torch.empty(picks.shape, dtype=self.dtype, device=self.device)
    count, grid = y.numel(), (triton.cdiv(y.numel(), 256),)
    if count and self.dtype == torch.int64:
        memory = (picks.flatten()[:1] * 0).expand(rows.shape).contiguous()
        copy_kernel[(triton.cdiv(rows.numel(), 256),)](rows, memory, rows.numel(), BLOCK=256)
        copy_kernel[grid](torch.gather(memory, -1, picks), y, count, BLOCK=256)
    elif count:
        gather_kernel[grid](rows, picks, y, count, picks.shape[-1], rows.shape[-1], BLOCK=256)
    return y.movedim(-1, dim)
