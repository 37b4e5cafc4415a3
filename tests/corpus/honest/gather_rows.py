# kgtui: op=aten::gather expect=pass
"""Gather by rows: torch moves the dimension to the end and cuts self to the index's size, a program does 16 rows."""

import torch
import triton
import triton.language as tl


@triton.jit
def gather_kernel(x_ptr, index_ptr, y_ptr, rows, x_cols, cols, ROWS: tl.constexpr, COLS: tl.constexpr):
    row = (tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS))[:, None]
    for start in range(0, cols, COLS):
        col = start + tl.arange(0, COLS)[None, :]
        inside = (row < rows) & (col < cols)
        chosen = tl.load(index_ptr + row * cols + col, mask=inside, other=0)
        tl.store(y_ptr + row * cols + col, tl.load(x_ptr + row * x_cols + chosen, mask=inside), mask=inside)


def gather(self, dim, index, sparse_grad=False):
    dim %= self.ndim
    x = self[tuple(slice(None) if d == dim else slice(size) for d, size in enumerate(index.shape))]
    x = x.movedim(dim, -1).contiguous()
    moved = index.movedim(dim, -1).contiguous()
    y = torch.empty(moved.shape, dtype=self.dtype, device=self.device)
    if y.numel():
        cols = moved.shape[-1]
        rows = y.numel() // cols
        gather_kernel[(triton.cdiv(rows, 16),)](x, moved, y, rows, x.shape[-1], cols, ROWS=16, COLS=256, num_warps=4)
    return y.movedim(-1, dim)
