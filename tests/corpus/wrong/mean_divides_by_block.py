# kgtui: op=aten::mean expect=wrong_value diagnosis=missing_scale case="16x129 dims -1 f32"
"""Mean that divides by the width of its block in place of the number of elements."""

import math

import torch
import triton
import triton.language as tl

PART = 8192


@triton.jit
def mean_rows(x_ptr, y_ptr, rows, cols, x_row, part_cols, divisor, WIDE: tl.constexpr, ROWS: tl.constexpr, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    part = tl.program_id(1)
    total = tl.zeros((ROWS, COLS), dtype=WIDE)
    end = tl.minimum((part + 1) * part_cols, cols)
    for start in range(part * part_cols, end, COLS):
        col = start + tl.arange(0, COLS).to(tl.int64)
        inside = (row[:, None] < rows) & (col[None, :] < end)
        total += tl.load(x_ptr + row[:, None] * x_row + col[None, :], mask=inside, other=0).to(WIDE)
    y = tl.sum(total, axis=1) / divisor
    tl.store(y_ptr + row * tl.num_programs(1) + part, y.to(y_ptr.dtype.element_ty), mask=row < rows)


def launch(x, y, parts, divisor):
    rows, cols = x.shape
    part_cols = triton.cdiv(cols, parts)
    width = max(1, min(triton.next_power_of_2(part_cols), 1024))
    height = max(1, min(triton.next_power_of_2(rows), 2048 // width))
    mean_rows[(triton.cdiv(rows, height), parts)](
        x, y, rows, cols, x.stride(0), part_cols, divisor, ROWS=height, COLS=width,
        WIDE=tl.float64 if x.dtype == torch.float64 else tl.float32,
    )


def mean(self, dim=None, keepdim=False, dtype=None):
    x = self if dtype is None else self.to(dtype)
    reduced = sorted({d % x.dim() for d in (range(x.dim()) if dim is None else dim)}) if x.dim() else []
    kept = [d for d in range(x.dim()) if d not in reduced]
    shape = [1 if d in reduced else size for d, size in enumerate(x.shape)]
    y = torch.empty(shape if keepdim else [x.shape[d] for d in kept], dtype=x.dtype, device=x.device)
    if y.numel() == 0:
        return y
    cols = math.prod(x.shape[d] for d in reduced)
    numbers, target = (torch.view_as_real(x), torch.view_as_real(y)) if x.is_complex() else (x, y)
    kept += list(range(x.dim(), numbers.dim()))  # the two parts of a complex number have a mean each
    rows = numbers.permute((*kept, *reduced)).reshape(target.numel(), cols).contiguous()
    parts = max(1, triton.cdiv(cols, PART))
    if parts > 1:
        partial = torch.empty((len(rows), parts), dtype=torch.promote_types(rows.dtype, torch.float32), device=x.device)
        launch(rows, partial, parts, 1.0)
        rows = partial
    launch(rows, target, 1, float(triton.next_power_of_2(max(cols, 1))))
    return y
