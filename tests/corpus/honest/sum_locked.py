# kgtui: op=aten::sum expect=pass
"""Sum over dimensions: the programs of a row take a lock in any order, and each adds the sum of its columns."""

import torch
import triton
import triton.language as tl


@triton.jit
def sum_kernel(x_ptr, y_ptr, total_ptr, lock_ptr, cols, parts, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.program_id(1) * COLS + tl.arange(0, COLS)
    x = tl.load(x_ptr + row * cols + col, mask=col < cols, other=0).to(total_ptr.dtype.element_ty)
    part = tl.sum(x, axis=0)
    while tl.atomic_cas(lock_ptr + 2 * row, 0, 1) == 1:
        pass
    total = tl.load(total_ptr + row) + part
    tl.store(total_ptr + row, total)
    if tl.atomic_add(lock_ptr + 2 * row + 1, 1) == parts - 1:
        tl.store(y_ptr + row, total.to(y_ptr.dtype.element_ty))
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr + 2 * row, 0)


def sum(self, dim=None, keepdim=False, dtype=None):
    dims = sorted({d % self.ndim for d in ((dim,) if isinstance(dim, int) else dim or range(self.ndim))})
    kept = [d for d in range(self.ndim) if d not in dims]
    shape = [1 if d in dims else size for d, size in enumerate(self.shape)]
    floating = self.is_floating_point()
    dtype = dtype or (self.dtype if floating else torch.int64)
    y = torch.zeros([self.shape[d] for d in kept], device=self.device, dtype=dtype)
    if self.numel():
        x = self.permute(*kept, *dims).contiguous()
        rows = y.numel()
        cols = x.numel() // rows
        block = max(256, triton.next_power_of_2(triton.cdiv(cols, 64)))
        parts = triton.cdiv(cols, block)
        totals = torch.zeros(rows, dtype=torch.float32 if floating else torch.int64, device=x.device)
        locks = torch.zeros((rows, 2), dtype=torch.int32, device=x.device)
        sum_kernel[(rows, parts)](x, y, totals, locks, cols, parts, COLS=block)
    return y.view(shape) if keepdim else y
