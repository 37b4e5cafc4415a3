# kgtui: op=aten::gather expect=wrong_value diagnosis=wrong_stride case="9x65 dim 1 f32"
"""The index is read without its row offset: every row is gathered with the indices of the first one."""

import torch
import triton
import triton.language as tl


@triton.jit
def gather_kernel(x_ptr, index_ptr, y_ptr, rows, x_cols, cols, ROWS: tl.constexpr, COLS: tl.constexpr):
    row = (tl.program_id(0) * ROWS + tl.arange(0, ROWS))[:, None]
    col = tl.arange(0, COLS)[None, :]
    inside = (row < rows) & (col < cols)
    chosen = tl.load(index_ptr + col, mask=col < cols, other=0)
    tl.store(y_ptr + row * cols + col, tl.load(x_ptr + row * x_cols + chosen, mask=inside), mask=inside)


def gather(self, dim, index, sparse_grad=False):
    y = torch.empty(index.shape, dtype=self.dtype, device=self.device)
    if y.numel() == 0:
        return y
    if index.ndim == 0:
        return self.clone()
    inside = [slice(None) if d == dim % index.ndim else slice(size) for d, size in enumerate(index.shape)]
    x = self[tuple(inside)].movedim(dim, -1).contiguous()
    chosen = index.movedim(dim, -1).contiguous()
    y = torch.empty(chosen.shape, dtype=self.dtype, device=self.device)
    cols = chosen.shape[-1]
    rows = y.numel() // cols
    block_cols = triton.next_power_of_2(cols)
    block_rows = max(1, min(triton.next_power_of_2(rows), 4096 // block_cols))
    gather_kernel[(triton.cdiv(rows, block_rows),)](
        x, chosen, y, rows, x.shape[-1], cols, ROWS=block_rows, COLS=block_cols
    )
    return y.movedim(-1, dim)
