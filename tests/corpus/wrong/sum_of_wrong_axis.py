# kgtui: op=aten::sum expect=wrong_value|wrong_shape diagnosis=none case="8x257 dims -1 f32"
"""The axis of the kernel is the wrong one: of every tile the columns are reduced to rows, not the rows to columns."""

import torch
import triton
import triton.language as tl


@triton.jit
def sum_kernel(x_ptr, y_ptr, rows, cols, SIDE: tl.constexpr):
    row = tl.program_id(0) * SIDE + tl.arange(0, SIDE)
    total = tl.zeros((SIDE, SIDE), dtype=y_ptr.dtype.element_ty)
    for start in range(0, cols, SIDE):
        col = start + tl.arange(0, SIDE)[None, :]
        inside = (row[:, None] < rows) & (col < cols)
        total += tl.load(x_ptr + row[:, None] * cols + col, mask=inside, other=0).to(y_ptr.dtype.element_ty)
    tl.store(y_ptr + row, tl.sum(total, axis=0), mask=row < rows)


def sum(self, dim=None, keepdim=False, dtype=None):
    dtype = dtype or (self.dtype if self.dtype.is_floating_point else torch.int64)
    dims = (dim,) if isinstance(dim, int) else tuple(dim or range(self.ndim))
    dims = [d % self.ndim for d in dims]
    kept = [d for d in range(self.ndim) if d not in dims]
    shape = [1 if d in dims else size for d, size in enumerate(self.shape)]
    wide = torch.float32 if dtype.is_floating_point else torch.int64
    y = torch.empty([self.shape[d] for d in kept], dtype=wide, device=self.device)
    if y.numel():
        x = self.permute(*kept, *dims).contiguous()
        rows, cols = y.numel(), x.numel() // y.numel()
        sum_kernel[(triton.cdiv(rows, 32),)](x, y, rows, cols, SIDE=32)
    y = y.to(dtype)
    return y.view(shape) if keepdim else y
