# kgtui: op=vllm::rms_norm expect=pass
"""RMS norm by partial sums of squares in a workspace that every call takes from a pool and writes before it reads."""

import torch
import triton
import triton.language as tl

POOL = {}
PART = 1024


@triton.jit
def partial_squares(x_ptr, square_ptr, x_row, cols, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.program_id(1) * COLS + tl.arange(0, COLS)
    x = tl.load(x_ptr + row * x_row + col, mask=col < cols, other=0.0).to(tl.float32)
    tl.store(square_ptr + row * tl.num_programs(1) + tl.program_id(1), tl.sum(x * x, axis=0))


@triton.jit
def scale_rows(
    out_ptr, x_ptr, square_ptr, weight_ptr, epsilon, x_row, cols, COLS: tl.constexpr, PARTS: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    part = tl.arange(0, PARTS)
    parts = tl.num_programs(1)
    squares = tl.load(square_ptr + row * parts + part, mask=part < parts, other=0.0)
    scale = tl.rsqrt(tl.sum(squares, axis=0) / cols + epsilon)
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
    parts = triton.cdiv(cols, PART)
    key = (input.device, rows * parts)
    squares = POOL.pop(key, None)  # nobody else has it while it is in use
    if squares is None:
        squares = torch.empty(rows * parts, dtype=torch.float32, device=input.device)
    partial_squares[(rows, parts)](input, squares, input.stride(0), cols, COLS=PART, num_warps=4)
    scale_rows[(rows, parts)](
        out, input, squares, weight, epsilon, input.stride(0), cols, COLS=PART, PARTS=triton.next_power_of_2(parts), num_warps=4,
    )
    POOL[key] = squares
