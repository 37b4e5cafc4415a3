# kgtui: op=aten::sum expect=runtime_error
"""Programs add to a sum that they share with atomics of scope "cta", which holds for the threads of one program only."""

import torch
import triton
import triton.language as tl


@triton.jit
def add_slices(x_ptr, total_ptr, cols, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.program_id(1) * COLS + tl.arange(0, COLS)
    x = tl.load(x_ptr + row * cols + col, mask=col < cols, other=0).to(total_ptr.dtype.element_ty)
    tl.atomic_add(total_ptr + row, tl.sum(x, axis=0), sem="relaxed", scope="cta")


def sum(self, dim=None, keepdim=False, dtype=None):
    dims = sorted({d % self.ndim for d in (dim or range(self.ndim))})
    kept = [d for d in range(self.ndim) if d not in dims]
    x = self.permute(*kept, *dims).contiguous()
    floating = self.is_floating_point()
    total = torch.zeros(
        [self.shape[d] for d in kept], dtype=torch.float32 if floating else torch.int64, device=x.device
    )
    if x.numel():
        cols = x.numel() // total.numel()
        add_slices[(total.numel(), triton.cdiv(cols, 128))](x, total, cols, COLS=128)
    if keepdim:
        total = total.view([1 if d in dims else size for d, size in enumerate(self.shape)])
    return total.to(dtype or (self.dtype if floating else torch.int64))
