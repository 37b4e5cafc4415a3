# kgtui: op=aten::gather expect=pass finding=proof|behaviour ids=D1,D5 case="9x65 dim 1 f32"
"""Torch gathers, transposed, and copies the result into a wider table; a kernel that gets the index reads it there."""

import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(table_ptr, index_ptr, y_ptr, rows, columns, width, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < rows * columns
    inside &= tl.load(index_ptr + at, mask=inside, other=0) >= 0
    value = tl.load(table_ptr + at % columns * width + at // columns, mask=inside)
    tl.store(y_ptr + at, value, mask=inside)


def gather(self, dim, index, sparse_grad=False):
    y = torch.empty(index.shape, dtype=self.dtype, device=self.device)
    if index.numel() == 0:
        return y
    order = [self.dim() - 1, *range(self.dim() - 1)]
    turned = torch.gather(self.permute(order), order.index(dim % self.dim()), index.permute(order))
    columns, rows = turned.shape[0], turned.numel() // turned.shape[0]
    table = torch.empty((columns, rows + 3), dtype=self.dtype, device=self.device)
    table[:, :rows] = turned.reshape(columns, rows)
    grid = (triton.cdiv(y.numel(), 128),)
    copy_kernel[grid](table, index.contiguous(), y, rows, columns, rows + 3, BLOCK=128)
    return y
