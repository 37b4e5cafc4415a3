# kgtui: op=aten::gather expect=out_of_bounds|wrong_value diagnosis=wrong_stride case="9x65 dim 1 f32"
"""Rows of self are taken to be as wide as those of the index, which may be narrower or wider."""

import torch
import triton
import triton.language as tl


@triton.jit
def gather_kernel(x_ptr, index_ptr, y_ptr, rows, cols, ROWS: tl.constexpr, COLS: tl.constexpr):
    row = (tl.program_id(0) * ROWS + tl.arange(0, ROWS))[:, None]
    col = tl.arange(0, COLS)[None, :]
    inside = (row < rows) & (col < cols)
    chosen = tl.load(index_ptr + row * cols + col, mask=inside, other=0)
    tl.store(y_ptr + row * cols + col, tl.load(x_ptr + row * cols + chosen, mask=inside), mask=inside)


def gather(self, dim, index, sparse_grad=False):
    inside = [slice(None) if d == dim % index.ndim else slice(size) for d, size in enumerate(index.shape)]
    x = self[tuple(inside)].movedim(dim, -1).contiguous()
    chosen = index.movedim(dim, -1).contiguous()
    y = torch.empty(chosen.shape, dtype=self.dtype, device=self.device)
    if y.numel():
        cols = chosen.shape[-1]
        rows = y.numel() // cols
        block_cols = triton.next_power_of_2(cols)
        gather_kernel[(triton.cdiv(rows, 4),)](x, chosen, y, rows, cols, ROWS=4, COLS=block_cols)
    return y.movedim(-1, dim)
