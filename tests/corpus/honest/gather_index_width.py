# kgtui: op=aten::gather expect=pass
"""Gather with addresses in int32 where every offset fits, in int64 elsewhere: the same answer, guarded exactly."""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def gather_kernel(
    x_ptr, index_ptr, y_ptr, count, cols, inner, x_outer, x_dim, ADDRESS: tl.constexpr, BLOCK: tl.constexpr
):
    flat = tl.program_id(0).to(ADDRESS) * BLOCK + tl.arange(0, BLOCK)
    inside = flat < count
    outer = flat // (cols * inner)
    chosen = tl.load(index_ptr + flat, mask=inside, other=0).to(ADDRESS)
    x = tl.load(x_ptr + outer * x_outer + chosen * x_dim + flat % inner, mask=inside)
    tl.store(y_ptr + flat, x, mask=inside)


def gather(self, dim, index, sparse_grad=False):
    dim %= self.ndim
    x = self[tuple(slice(None) if d == dim else slice(size) for d, size in enumerate(index.shape))].contiguous()
    index = index.contiguous()
    y = torch.empty_like(index, dtype=self.dtype)
    if y.numel():
        inner = math.prod(index.shape[dim + 1 :])
        address = tl.int32 if max(x.numel(), y.numel()) < 2**31 - 4096 else tl.int64
        gather_kernel[(triton.cdiv(y.numel(), 2048),)](
            x, index, y, y.numel(), index.shape[dim], inner, x.shape[dim] * inner, inner,
            ADDRESS=address, BLOCK=2048, num_warps=8,
        )
    return y
