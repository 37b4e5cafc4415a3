# kgtui: op=vllm::rms_norm expect=pass
"""RMS norm in two launches: one kernel leaves the scale of each row in a workspace, the other applies it."""

import torch
import triton
import triton.language as tl


@triton.jit
def row_scales(x_ptr, scale_ptr, epsilon, rows, cols, x_row, x_col, ROWS: tl.constexpr, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    squares = tl.zeros((ROWS, COLS), dtype=tl.float32)
    for start in range(0, cols, COLS):
        col = start + tl.arange(0, COLS)[None, :]
        x = tl.load(x_ptr + row[:, None] * x_row + col * x_col, mask=(row[:, None] < rows) & (col < cols), other=0.0)
        squares += x.to(tl.float32) * x.to(tl.float32)
    tl.store(scale_ptr + row, tl.rsqrt(tl.sum(squares, axis=1) / cols + epsilon), mask=row < rows)


@triton.jit
def apply_scales(
    out_ptr, x_ptr, scale_ptr, weight_ptr, rows, cols, out_row, out_col, x_row, x_col, weight_stride,
    ROWS: tl.constexpr, COLS: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    col = tl.program_id(1) * COLS + tl.arange(0, COLS)[None, :]
    inside = (row < rows) & (col < cols)
    scale = tl.load(scale_ptr + row, mask=row < rows, other=0.0)
    weight = tl.load(weight_ptr + col * weight_stride, mask=col < cols, other=0.0).to(tl.float32)
    x = tl.load(x_ptr + row * x_row + col * x_col, mask=inside, other=0.0).to(tl.float32)
    tl.store(out_ptr + row * out_row + col * out_col, (x * scale * weight).to(out_ptr.dtype.element_ty), mask=inside)


def rms_norm(out, input, weight, epsilon):
    rows, cols = input.shape
    if rows == 0 or cols == 0:
        return
    scales = torch.empty(rows, dtype=torch.float32, device=input.device)
    block_cols = min(triton.next_power_of_2(cols), 1024)
    block_rows = max(1, min(triton.next_power_of_2(rows), 4096 // block_cols))
    row_blocks = triton.cdiv(rows, block_rows)
    row_scales[(row_blocks,)](
        input, scales, epsilon, rows, cols, *input.stride(), ROWS=block_rows, COLS=block_cols, num_warps=4
    )
    apply_scales[(row_blocks, triton.cdiv(cols, block_cols))](
        out, input, scales, weight, rows, cols, *out.stride(), *input.stride(), *weight.stride(),
        ROWS=block_rows, COLS=block_cols, num_warps=4,
    )
