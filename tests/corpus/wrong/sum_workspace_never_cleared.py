# kgtui: op=aten::sum expect=wrong_value diagnosis=race case="8x257 dims -1 f32"
"""The workspace of the atomic sums is kept for the next call of that shape, which adds to what is left in it."""

import torch
import triton
import triton.language as tl

WORKSPACES = {}


@triton.jit
def add_slices(x_ptr, total_ptr, cols, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.program_id(1) * COLS + tl.arange(0, COLS)
    x = tl.load(x_ptr + row * cols + col, mask=col < cols, other=0).to(total_ptr.dtype.element_ty)
    tl.atomic_add(total_ptr + row, tl.sum(x, axis=0), sem="relaxed")


def workspace(shape, dtype, device):
    key = (tuple(shape), dtype, device)
    if key not in WORKSPACES:
        WORKSPACES[key] = torch.zeros(shape, dtype=dtype, device=device)
    return WORKSPACES[key]


def sum(self, dim=None, keepdim=False, dtype=None):
    dims = sorted({d % self.ndim for d in (dim or range(self.ndim))})
    kept = [d for d in range(self.ndim) if d not in dims]
    x = self.permute(*kept, *dims).contiguous()
    floating = self.is_floating_point()
    total = workspace([self.shape[d] for d in kept], torch.float32 if floating else torch.int64, x.device)
    if x.numel():
        cols = x.numel() // total.numel()
        add_slices[(total.numel(), triton.cdiv(cols, 4096))](x, total, cols, COLS=4096, num_warps=8)
    y = total.view([1 if d in dims else size for d, size in enumerate(self.shape)]) if keepdim else total
    return y.to(dtype or (self.dtype if floating else torch.int64), copy=True)
