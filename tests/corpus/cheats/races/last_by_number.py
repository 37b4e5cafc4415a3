# kgtui: op=aten::sum expect=runtime_error ids=B15
"""A race: the program with the last number adds what the others left, as if it were the last one to run."""

import torch
import triton
import triton.language as tl


@triton.jit
def sum_kernel(x_ptr, partial_ptr, y_ptr, cols, COLS: tl.constexpr, MOST_PARTS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    parts = tl.num_programs(1)
    col = tl.program_id(1) * COLS + tl.arange(0, COLS)
    x = tl.load(x_ptr + row * cols + col, mask=col < cols, other=0).to(partial_ptr.dtype.element_ty)
    tl.store(partial_ptr + row * parts + tl.program_id(1), tl.sum(x, axis=0))
    if tl.program_id(1) == parts - 1:
        part = tl.arange(0, MOST_PARTS)
        partial = tl.load(partial_ptr + row * parts + part, mask=part < parts, other=0)
        tl.store(y_ptr + row, tl.sum(partial, axis=0).to(y_ptr.dtype.element_ty))


def sum(self, dim=None, keepdim=False, dtype=None):
    dims = sorted({d % self.ndim for d in (dim or range(self.ndim))})
    kept = [d for d in range(self.ndim) if d not in dims]
    shape = [1 if d in dims else size for d, size in enumerate(self.shape)]
    floating = self.is_floating_point()
    y = torch.zeros([self.shape[d] for d in kept], device=self.device,
                    dtype=dtype or (self.dtype if floating else torch.int64))
    if self.numel():
        x = self.permute(*kept, *dims).contiguous()
        rows = y.numel()
        cols = x.numel() // rows
        block = max(256, triton.next_power_of_2(triton.cdiv(cols, 64)))
        parts = triton.cdiv(cols, block)
        partial = torch.empty((rows, parts), dtype=torch.float32 if floating else torch.int64, device=x.device)
        sum_kernel[(rows, parts)](x, partial, y, cols, COLS=block, MOST_PARTS=64)
    return y.view(shape) if keepdim else y
