# kgtui: op=vllm::fused_add_rms_norm expect=pass
"""Residual add and RMS norm in one pass: both tensors are read once and written once, in place."""

import triton
import triton.language as tl


@triton.jit
def fused_add_rms_norm_kernel(
    x_ptr, residual_ptr, weight_ptr, epsilon, rows, cols, x_row, x_col, residual_row, residual_col, weight_stride,
    ROWS: tl.constexpr, COLS: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None]
    col = tl.arange(0, COLS)[None, :]
    inside = (row < rows) & (col < cols)
    x_at = x_ptr + row * x_row + col * x_col
    residual_at = residual_ptr + row * residual_row + col * residual_col
    kind = x_ptr.dtype.element_ty
    x = tl.load(x_at, mask=inside, other=0.0).to(tl.float32)
    residual = tl.load(residual_at, mask=inside, other=0.0).to(tl.float32)
    added = (x + residual).to(kind)
    tl.store(residual_at, added, mask=inside)
    added = added.to(tl.float32)
    weight = tl.load(weight_ptr + col * weight_stride, mask=col < cols, other=0.0).to(tl.float32)
    mean = tl.sum(added * added, axis=1)[:, None] / cols
    tl.store(x_at, (added * tl.rsqrt(mean + epsilon) * weight).to(kind), mask=inside)


def fused_add_rms_norm(input, residual, weight, epsilon):
    rows, cols = input.shape
    if rows == 0 or cols == 0:
        return
    block_cols = triton.next_power_of_2(cols)
    block_rows = max(1, min(triton.next_power_of_2(rows), 4096 // block_cols))
    fused_add_rms_norm_kernel[(triton.cdiv(rows, block_rows),)](
        input, residual, weight, epsilon, rows, cols, *input.stride(), *residual.stride(), *weight.stride(),
        ROWS=block_rows, COLS=block_cols, num_warps=4 if block_cols <= 4096 else 8,
    )
