# kgtui: op=vllm::rms_norm expect=pass
"""RMS norm whose kernels do both passes over the rows; torch adds up the few partial sums that lie between them."""

import torch
import triton
import triton.language as tl


@triton.jit
def partial_squares(x_ptr, square_ptr, x_row, cols, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.program_id(1) * COLS + tl.arange(0, COLS)
    x = tl.load(x_ptr + row * x_row + col, mask=col < cols, other=0.0).to(tl.float32)
    tl.store(square_ptr + row * tl.num_programs(1) + tl.program_id(1), tl.sum(x * x, axis=0))


@triton.jit
def scale_rows(out_ptr, x_ptr, square_ptr, weight_ptr, epsilon, x_row, cols, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    scale = tl.rsqrt(tl.load(square_ptr + row) / cols + epsilon)
    col = tl.program_id(1) * COLS + tl.arange(0, COLS)
    x = tl.load(x_ptr + row * x_row + col, mask=col < cols, other=0.0).to(tl.float32)
    weight = tl.load(weight_ptr + col, mask=col < cols, other=0.0).to(tl.float32)
    tl.store(out_ptr + row * cols + col, (x * scale * weight).to(out_ptr.dtype.element_ty), mask=col < cols)


def rms_norm(out, input, weight, epsilon):
    if not (out.is_contiguous() and weight.is_contiguous() and input.stride(-1) == 1):
        dense = out.new_empty(out.shape)
        rms_norm(dense, input.contiguous(), weight.contiguous(), epsilon)
        out.copy_(dense)
        return
    rows, cols = input.shape
    if rows == 0 or cols == 0:
        return
    grid = (rows, triton.cdiv(cols, 2048))
    parts = torch.empty(grid, dtype=torch.float32, device=input.device)
    partial_squares[grid](input, parts, input.stride(0), cols, COLS=2048, num_warps=4)
    squares = parts.sum(dim=1)
    scale_rows[grid](out, input, squares, weight, epsilon, input.stride(0), cols, COLS=2048, num_warps=4)
