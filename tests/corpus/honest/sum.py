# kgtui: op=aten::sum expect=pass
"""Sum over any dimensions; long rows in two launches: partial sums of slices, then the sum of those."""

import math

import torch
import triton
import triton.language as tl

SLICE = 16384


@triton.jit
def sum_rows(
    x_ptr, y_ptr, rows, cols, inner, slice_cols, outer_stride, col_stride, inner_stride,
    ROWS: tl.constexpr, COLS: tl.constexpr, WIDE: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    part = tl.program_id(1)
    x_row = x_ptr + row // inner * outer_stride + row % inner * inner_stride
    total = tl.zeros((ROWS, COLS), dtype=WIDE)
    end = tl.minimum((part + 1) * slice_cols, cols)
    for start in range(part * slice_cols, end, COLS):
        col = start + tl.arange(0, COLS).to(tl.int64)
        inside = (row[:, None] < rows) & (col[None, :] < end)
        x = tl.load(x_row[:, None] + col[None, :] * col_stride, mask=inside, other=0)
        total += x.to(WIDE)
    y = tl.sum(total, axis=1).to(y_ptr.dtype.element_ty)
    tl.store(y_ptr + row * tl.num_programs(1) + part, y, mask=row < rows)


def launch(x, y, parts, wide):
    outer, cols, inner = x.shape
    rows = outer * inner
    slice_cols = triton.cdiv(cols, parts)
    least_rows = 8 if inner > 1 else 1
    block_cols = max(1, min(triton.next_power_of_2(slice_cols), 4096 // least_rows))
    block_rows = max(least_rows, min(triton.next_power_of_2(rows), 4096 // block_cols))
    sum_rows[(triton.cdiv(rows, block_rows), parts)](
        x, y, rows, cols, inner, slice_cols, *x.stride(),
        ROWS=block_rows, COLS=block_cols, WIDE=getattr(tl, str(wide).removeprefix("torch.")), num_warps=4,
    )


def sum(self, dim=None, keepdim=False, dtype=None):
    if dtype is None:
        dtype = self.dtype if self.dtype.is_floating_point else torch.int64
    dims = (dim,) if isinstance(dim, int) else tuple(dim or range(self.ndim))
    dims = tuple(sorted({d % self.ndim for d in dims})) if self.ndim else ()
    kept = tuple(d for d in range(self.ndim) if d not in dims)
    shape = [1 if d in dims else size for d, size in enumerate(self.shape)]
    y = torch.empty(shape if keepdim else [self.shape[d] for d in kept], dtype=dtype, device=self.device)
    if y.numel() == 0:
        return y

    if dims and dims[-1] - dims[0] + 1 == len(dims):  # neighbours: no copy unless the strides ask for one
        before, inside, after = self.shape[: dims[0]], self.shape[dims[0] : dims[-1] + 1], self.shape[dims[-1] + 1 :]
        x = self.reshape(math.prod(before), math.prod(inside), math.prod(after))
    else:
        x = self.permute(*kept, *dims).reshape(y.numel(), math.prod(self.shape[d] for d in dims), 1)
    wide = torch.int64 if not dtype.is_floating_point else dtype if dtype == torch.float64 else torch.float32
    parts = max(1, min(triton.cdiv(x.shape[1], SLICE), 1024))
    if parts == 1:
        launch(x, y, 1, wide)
    else:
        partial = torch.empty((y.numel(), parts, 1), dtype=wide, device=self.device)
        launch(x, partial, parts, wide)
        launch(partial, y, 1, wide)
    return y
