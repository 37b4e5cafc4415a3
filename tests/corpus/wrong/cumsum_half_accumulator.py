# kgtui: op=aten::cumsum expect=wrong_value
"""The running sum is kept in the dtype of the input: in float16 and bfloat16 small terms soon stop counting."""

import torch
import triton
import triton.language as tl


@triton.jit
def cumsum_kernel(x_ptr, y_ptr, rows, cols, ROWS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    total = tl.zeros((ROWS,), dtype=y_ptr.dtype.element_ty)
    for col in range(0, cols):
        total += tl.load(x_ptr + row * cols + col, mask=row < rows, other=0).to(total.dtype)
        tl.store(y_ptr + row * cols + col, total, mask=row < rows)


def cumsum(self, dim, dtype=None):
    dtype = dtype or (self.dtype if self.dtype.is_floating_point else torch.int64)
    x = (self.movedim(dim, -1) if self.ndim else self).contiguous()
    y = torch.empty_like(x, dtype=dtype)
    if y.numel():
        cols = x.shape[-1] if x.ndim else 1
        rows = y.numel() // cols
        cumsum_kernel[(triton.cdiv(rows, 128),)](x, y, rows, cols, ROWS=128)
    return y.movedim(-1, dim) if self.ndim else y
