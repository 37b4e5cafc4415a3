# kgtui: op=aten::argmax expect=pass
"""Index of the maximum, one row per program; NaN wins, and of equal elements the first one."""

import torch
import triton
import triton.language as tl


@triton.jit
def better(x_a, i_a, x_b, i_b):
    a_nan, b_nan = x_a != x_a, x_b != x_b
    same = (x_a == x_b) | (a_nan & b_nan)
    take_a = (a_nan & (b_nan == 0)) | ((x_a > x_b) & (b_nan == 0)) | (same & (i_a < i_b))
    return tl.where(take_a, x_a, x_b), tl.where(take_a, i_a, i_b)


@triton.jit
def argmax_kernel(x_ptr, y_ptr, cols, row_stride, col_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    best = tl.load(x_ptr + row * row_stride)
    place = tl.zeros((), tl.int64)
    for start in range(0, cols, BLOCK):
        col = start + tl.arange(0, BLOCK).to(tl.int64)
        # Lanes beyond the row repeat its first element, which is never better than itself.
        inside = tl.where(col < cols, col, 0)
        x = tl.load(x_ptr + row * row_stride + inside * col_stride)
        top, index = tl.reduce((x, inside), 0, better)
        best, place = better(best, place, top, index)
    tl.store(y_ptr + row, place)


def argmax(self, dim=None, keepdim=False):
    rows = self.reshape(1, -1) if dim is None or self.dim() == 0 else self.movedim(dim, -1)
    shape = rows.shape[:-1]
    rows = rows.reshape(-1, rows.shape[-1])
    y = torch.empty(rows.shape[0], dtype=torch.int64, device=self.device)
    if y.numel():
        block = min(1024, triton.next_power_of_2(rows.shape[1]))
        argmax_kernel[(rows.shape[0],)](rows, y, rows.shape[1], *rows.stride(), BLOCK=block)
    if dim is None or self.dim() == 0:
        return y.reshape([1] * self.dim() if keepdim else [])
    return y.reshape(shape).unsqueeze(dim) if keepdim else y.reshape(shape)
