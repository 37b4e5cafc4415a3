# kgtui: op=aten::gather expect=pass
"""Gather that asks torch whether every index is in range, as torch itself does on a CPU, before it launches."""

import torch
import triton
import triton.language as tl


@triton.jit
def _gather_rows(x, index, y, outer, n_index, inner, n_x, B: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)
    m = i < outer * n_index * inner
    at = tl.load(index + i, mask=m, other=0)
    last = i % inner
    first = i // inner // n_index
    tl.store(y + i, tl.load(x + (first * n_x + at) * inner + last, mask=m), mask=m)


def _validate(index, size):
    if index.dtype != torch.int64:
        raise TypeError(f"gather: expected int64 index, got {index.dtype}")
    bad = (index < 0) | (index >= size)
    if bad.any():
        where = tuple(bad.nonzero()[0].tolist())
        raise IndexError(f"gather: index {int(index[where])} at {where} is out of bounds for size {size}")


def gather(self, dim, index, sparse_grad=False):
    dim %= max(self.ndim, 1)
    if index.numel() == 0:
        return self.new_empty(index.shape)
    _validate(index, self.shape[dim] if self.ndim else 1)
    cut = tuple(slice(None) if d == dim else slice(0, s) for d, s in enumerate(index.shape))
    x = self[cut].contiguous()
    index = index.contiguous()
    y = torch.empty_like(index, dtype=self.dtype)
    outer = index.shape[:dim].numel()
    inner = index.shape[dim + 1 :].numel()
    _gather_rows[(triton.cdiv(y.numel(), 1024),)](x, index, y, outer, index.shape[dim], inner, x.shape[dim], B=1024)
    return y
