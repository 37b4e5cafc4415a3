# kgtui: op=aten::sum expect=pass
"""Sum of rows by one kernel launched again and again: each launch leaves a 128th, until one is left."""

import torch
import triton
import triton.language as tl

FAN_IN = 128


@triton.jit
def fold(x_ptr, y_ptr, rows, cols, ROWS: tl.constexpr, FAN: tl.constexpr):
    row = (tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS))[:, None]
    col = tl.program_id(1) * FAN + tl.arange(0, FAN)[None, :]
    x = tl.load(x_ptr + row * cols + col, mask=(row < rows) & (col < cols), other=0)
    wide = tl.float32 if x.dtype.is_floating() else tl.int64
    y = tl.sum(x.to(wide), axis=1)[:, None]
    tl.store(y_ptr + row * tl.num_programs(1) + tl.program_id(1), y.to(y_ptr.dtype.element_ty), mask=row < rows)


def sum(self, dim=None, keepdim=False, dtype=None):
    dims = sorted({d % self.ndim for d in (dim or range(self.ndim))})
    kept = [d for d in range(self.ndim) if d not in dims]
    shape = [self.shape[d] for d in kept]
    dtype = dtype or (self.dtype if self.is_floating_point() else torch.int64)
    x = self.permute(*kept, *dims).contiguous()
    rows = 1
    for size in shape:
        rows *= size
    if x.numel() == 0:
        y = torch.zeros(shape, dtype=dtype, device=x.device)
    else:
        x = x.view(rows, -1)
        while x.dtype != dtype or x.shape[1] > 1:
            parts = triton.cdiv(x.shape[1], FAN_IN)
            wide = torch.float32 if self.is_floating_point() else torch.int64
            y = torch.empty((rows, parts), dtype=wide if parts > 1 else dtype, device=x.device)
            fold[(triton.cdiv(rows, 32), parts)](x, y, rows, x.shape[1], ROWS=32, FAN=FAN_IN, num_warps=4)
            x = y
        y = x.view(shape)
    return y.reshape([1 if d in dims else size for d, size in enumerate(self.shape)]) if keepdim else y
