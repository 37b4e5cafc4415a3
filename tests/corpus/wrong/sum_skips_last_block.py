# kgtui: op=aten::sum expect=wrong_value diagnosis=tail_mask case="8x257 dims -1 f32"
"""Only whole blocks are added up; what is left of the row after them is lost."""

import torch
import triton
import triton.language as tl


@triton.jit
def sum_kernel(x_ptr, y_ptr, rows, cols, ROWS: tl.constexpr, COLS: tl.constexpr, WIDE: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    total = tl.zeros((ROWS, COLS), dtype=WIDE)
    for block in range(0, cols // COLS):
        col = block * COLS + tl.arange(0, COLS)[None, :]
        total += tl.load(x_ptr + row * cols + col, mask=row < rows, other=0).to(WIDE)
    y = tl.sum(total, axis=1)[:, None].to(y_ptr.dtype.element_ty)
    tl.store(y_ptr + row, y, mask=row < rows)


def sum(self, dim=None, keepdim=False, dtype=None):
    dtype = dtype or (self.dtype if self.dtype.is_floating_point else torch.int64)
    dims = (dim,) if isinstance(dim, int) else tuple(dim or range(self.ndim))
    dims = [d % self.ndim for d in dims]
    kept = [d for d in range(self.ndim) if d not in dims]
    y = torch.empty([self.shape[d] for d in kept], dtype=dtype, device=self.device)
    if y.numel():
        x = self.permute(*kept, *dims).contiguous()
        rows, cols = y.numel(), x.numel() // y.numel()
        wide = tl.float32 if dtype.is_floating_point else tl.int64
        sum_kernel[(triton.cdiv(rows, 8),)](x, y, rows, cols, ROWS=8, COLS=64, WIDE=wide)
    if keepdim:
        y = y.view([1 if d in dims else size for d, size in enumerate(self.shape)])
    return y
