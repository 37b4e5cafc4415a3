# kgtui: op=aten::sum expect=wrong_value diagnosis=tail_mask case="8x257 dims -1 f32"
"""The loop masks the last block and adds it, and so does the code behind the loop that is there for the tail."""

import torch
import triton
import triton.language as tl


@triton.jit
def sum_kernel(x_ptr, y_ptr, cols, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    total = tl.zeros((COLS,), dtype=y_ptr.dtype.element_ty)
    for start in range(0, cols, COLS):
        col = start + tl.arange(0, COLS)
        total += tl.load(x_ptr + row * cols + col, mask=col < cols, other=0).to(total.dtype)
    if cols % COLS != 0:
        col = cols // COLS * COLS + tl.arange(0, COLS)
        total += tl.load(x_ptr + row * cols + col, mask=col < cols, other=0).to(total.dtype)
    tl.store(y_ptr + row, tl.sum(total, axis=0))


def sum(self, dim=None, keepdim=False, dtype=None):
    dims = sorted({d % self.ndim for d in (dim or range(self.ndim))})
    kept = [d for d in range(self.ndim) if d not in dims]
    x = self.permute(*kept, *dims).contiguous()
    floating = self.is_floating_point()
    y = torch.zeros([self.shape[d] for d in kept], dtype=torch.float32 if floating else torch.int64, device=x.device)
    if x.numel():
        sum_kernel[(y.numel(),)](x, y, x.numel() // y.numel(), COLS=64)
    if keepdim:
        y = y.view([1 if d in dims else size for d, size in enumerate(self.shape)])
    return y.to(dtype or (self.dtype if floating else torch.int64))
