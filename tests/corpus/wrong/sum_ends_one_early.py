# kgtui: op=aten::sum expect=wrong_value diagnosis=tail_mask case="16x127 dims -1 f32"
"""The mask of a ragged row ends one element early; rows of whole vectors of 16 are right."""

import torch
import triton
import triton.language as tl


@triton.jit
def sum_kernel(x_ptr, y_ptr, cols, end, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    wide = tl.int64 if y_ptr.dtype.element_ty == tl.int64 else tl.float32
    total = tl.zeros((COLS,), wide)
    for start in range(0, cols, COLS):
        col = start + tl.arange(0, COLS)
        total += tl.load(x_ptr + row * cols + col, mask=col < end, other=0).to(wide)
    tl.store(y_ptr + row, tl.sum(total, axis=0).to(y_ptr.dtype.element_ty))


def sum(self, dim=None, keepdim=False, dtype=None):
    dims = sorted({d % self.ndim for d in (dim or range(self.ndim))})
    kept = [d for d in range(self.ndim) if d not in dims]
    y = torch.zeros([self.shape[d] for d in kept], device=self.device,
                    dtype=dtype or (self.dtype if self.is_floating_point() else torch.int64))
    if self.numel():
        cols = self.numel() // y.numel()
        sum_kernel[(y.numel(),)](
            self.permute(*kept, *dims).contiguous(), y, cols, cols - 1 if cols % 16 else cols, COLS=256
        )
    return y.view([1 if d in dims else size for d, size in enumerate(self.shape)]) if keepdim else y
