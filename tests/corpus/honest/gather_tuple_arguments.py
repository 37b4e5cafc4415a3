# kgtui: op=aten::gather expect=pass
"""Gather whose kernel takes shape and strides as tuples and walks over them with tl.static_range."""

import torch
import triton
import triton.language as tl


@triton.jit
def _gather(
    x, index, y, count, shape, x_strides, i_strides, DIM: tl.constexpr, NDIM: tl.constexpr, BLOCK: tl.constexpr,
):
    flat = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    left = flat
    i_off = tl.zeros((BLOCK,), tl.int64)
    x_off = tl.zeros((BLOCK,), tl.int64)
    for d in tl.static_range(NDIM - 1, -1, -1):
        here = left % shape[d]
        left = left // shape[d]
        i_off += here * i_strides[d]
        if d != DIM:
            x_off += here * x_strides[d]
    chosen = tl.load(index + i_off, mask=flat < count, other=0)
    x_off += chosen * x_strides[DIM]
    tl.store(y + flat, tl.load(x + x_off, mask=flat < count), mask=flat < count)


def gather(self, dim, index, sparse_grad=False):
    y = torch.empty(tuple(index.shape), dtype=self.dtype, device=self.device)
    if y.numel() and index.ndim == 0:
        return gather(self.reshape(1), 0, index.reshape(1)).reshape(())
    if y.numel():
        _gather[(triton.cdiv(y.numel(), 512),)](
            self, index, y, y.numel(), tuple(index.shape), tuple(self.stride()), tuple(index.stride()),
            DIM=dim % index.ndim, NDIM=index.ndim, BLOCK=512,
        )
    return y
