# kgtui: op=aten::softmax expect=pass
"""Softmax under @triton.autotune; its first configuration holds 64 columns and refuses to compile for longer rows."""

import torch
import triton
import triton.language as tl

CONFIGS = [
    triton.Config({"ROWS": 16, "COLS": 64, "WHOLE_ROWS": True}, num_warps=4),
    triton.Config({"ROWS": 4, "COLS": 1024, "WHOLE_ROWS": True}, num_warps=4),
    triton.Config({"ROWS": 1, "COLS": 4096, "WHOLE_ROWS": False}, num_warps=8),
    triton.Config({"ROWS": 8, "COLS": 512, "WHOLE_ROWS": False}, num_warps=4),
]


@triton.autotune(configs=CONFIGS, key=["rows", "COLS_IN_ROW"])
@triton.jit
def softmax_kernel(
    x_ptr, y_ptr, rows, COLS_IN_ROW: tl.constexpr, ROWS: tl.constexpr, COLS: tl.constexpr, WHOLE_ROWS: tl.constexpr
):
    tl.static_assert(COLS_IN_ROW <= COLS or not WHOLE_ROWS, "this configuration holds whole rows only")
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    first = row * COLS_IN_ROW
    highest = tl.full((ROWS, 1), float("-inf"), dtype=tl.float32)
    total = tl.zeros((ROWS, 1), dtype=tl.float32)
    for start in range(0, COLS_IN_ROW, COLS):
        col = start + tl.arange(0, COLS)[None, :]
        x = tl.load(x_ptr + first + col, mask=(row < rows) & (col < COLS_IN_ROW), other=0.0).to(tl.float32)
        x = tl.where(col < COLS_IN_ROW, x, float("-inf"))
        higher = tl.maximum(highest, tl.max(x, axis=1)[:, None])
        shift = tl.where(higher == float("-inf"), 0.0, higher)
        total = total * tl.exp(highest - shift) + tl.sum(tl.exp(x - shift), axis=1)[:, None]
        highest = higher
    for start in range(0, COLS_IN_ROW, COLS):
        col = start + tl.arange(0, COLS)[None, :]
        inside = (row < rows) & (col < COLS_IN_ROW)
        x = tl.load(x_ptr + first + col, mask=inside, other=0.0).to(tl.float32)
        y = tl.exp(x - highest) / total
        tl.store(y_ptr + first + col, y.to(y_ptr.dtype.element_ty), mask=inside)


def softmax(self, dim, dtype=None):
    x = self.to(dtype or self.dtype)
    x = (x.movedim(dim, -1) if self.ndim else x).contiguous()
    y = torch.empty_like(x)
    if y.numel():
        cols = x.shape[-1] if x.ndim else 1
        rows = y.numel() // cols
        softmax_kernel[lambda meta: (triton.cdiv(rows, meta["ROWS"]),)](x, y, rows, cols)
    return y.movedim(-1, dim) if self.ndim else y
