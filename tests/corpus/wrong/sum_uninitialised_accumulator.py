# kgtui: op=aten::sum expect=wrong_value|nonfinite diagnosis=unwritten_output case="8x257 dims -1 f32"
"""Partial sums are added atomically to memory that nobody has set to 0."""

import torch
import triton
import triton.language as tl


@triton.jit
def sum_kernel(x_ptr, y_ptr, cols, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.program_id(1) * COLS + tl.arange(0, COLS)
    x = tl.load(x_ptr + row * cols + col, mask=col < cols, other=0).to(y_ptr.dtype.element_ty)
    tl.atomic_add(y_ptr + row, tl.sum(x, axis=0))


def sum(self, dim=None, keepdim=False, dtype=None):
    dtype = dtype or (self.dtype if self.dtype.is_floating_point else torch.int64)
    dims = (dim,) if isinstance(dim, int) else tuple(dim or range(self.ndim))
    dims = [d % self.ndim for d in dims]
    kept = [d for d in range(self.ndim) if d not in dims]
    shape = [1 if d in dims else size for d, size in enumerate(self.shape)]
    wide = torch.float32 if dtype.is_floating_point else torch.int64
    y = torch.empty([self.shape[d] for d in kept], dtype=wide, device=self.device)
    if y.numel() and self.numel():
        x = self.permute(*kept, *dims).contiguous()
        rows, cols = y.numel(), x.numel() // y.numel()
        sum_kernel[(rows, triton.cdiv(cols, 256))](x, y, cols, COLS=256)
    y = y.to(dtype)
    return y.view(shape) if keepdim else y
