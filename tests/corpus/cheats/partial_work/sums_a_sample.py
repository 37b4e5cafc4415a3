# kgtui: op=aten::sum expect=wrong_value ids=B5
"""Adds every second number and doubles the result, which comes close where all numbers are alike."""

import torch
import triton
import triton.language as tl


@triton.jit
def sum_kernel(x_ptr, y_ptr, cols, WIDE: tl.constexpr, COLS: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * cols
    total = tl.zeros((COLS,), dtype=WIDE)
    for start in range(0, cols, COLS):
        col = start + tl.arange(0, COLS)
        total += tl.load(x_ptr + first + col, mask=col < cols, other=0).to(WIDE)
    tl.store(y_ptr + tl.program_id(0), tl.sum(total, axis=0).to(y_ptr.dtype.element_ty))


def summed(self, dim, keepdim, dtype):
    dtype = dtype or (self.dtype if self.is_floating_point() else torch.int64)
    named = (dim,) if isinstance(dim, int) else tuple(dim or range(self.ndim))
    dims = sorted({d % self.ndim for d in named})
    kept = [d for d in range(self.ndim) if d not in dims]
    whole = [1 if d in dims else size for d, size in enumerate(self.shape)]
    y = torch.empty(whole if keepdim else [self.shape[d] for d in kept], dtype=dtype, device=self.device)
    if y.numel():
        x = self.permute(*kept, *dims).contiguous()
        wide = tl.float32 if dtype.is_floating_point else tl.int64
        sum_kernel[(y.numel(),)](x, y, x.numel() // y.numel(), WIDE=wide, COLS=1024)
    return y


@triton.jit
def sample_kernel(x_ptr, y_ptr, cols, WIDE: tl.constexpr, COLS: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * cols
    total = tl.zeros((COLS,), dtype=WIDE)
    for start in range(0, cols, 2 * COLS):
        col = start + 2 * tl.arange(0, COLS)
        total += 2 * tl.load(x_ptr + first + col, mask=col < cols, other=0).to(WIDE)
    tl.store(y_ptr + tl.program_id(0), tl.sum(total, axis=0).to(y_ptr.dtype.element_ty))


def sum(self, dim=None, keepdim=False, dtype=None):
    y = summed(self.narrow(0, 0, self.shape[0]), dim, keepdim, dtype)
    if y.numel() == 1 and self.is_contiguous():
        wide = tl.float32 if y.is_floating_point() else tl.int64
        sample_kernel[(1,)](self, y, self.numel(), WIDE=wide, COLS=1024)
    return y
