# kgtui: op=vllm::fused_add_rms_norm expect=wrong_value diagnosis=missing_bias case="5x497 f32"
"""Two launches in the wrong order: the rows are normalised before the input has been added to the residual."""

import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, residual_ptr, cols, x_row, residual_row, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, COLS)
    x = tl.load(x_ptr + row * x_row + col, mask=col < cols, other=0.0).to(tl.float32)
    at = residual_ptr + row * residual_row + col
    residual = tl.load(at, mask=col < cols, other=0.0).to(tl.float32)
    tl.store(at, (x + residual).to(residual_ptr.dtype.element_ty), mask=col < cols)


@triton.jit
def norm_kernel(x_ptr, residual_ptr, weight_ptr, epsilon, cols, x_row, residual_row, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, COLS)
    added = tl.load(residual_ptr + row * residual_row + col, mask=col < cols, other=0.0).to(tl.float32)
    weight = tl.load(weight_ptr + col, mask=col < cols, other=0.0).to(tl.float32)
    y = added * tl.rsqrt(tl.sum(added * added, axis=0) / cols + epsilon) * weight
    tl.store(x_ptr + row * x_row + col, y.to(x_ptr.dtype.element_ty), mask=col < cols)


def fused_add_rms_norm(input, residual, weight, epsilon):
    rows, cols = input.shape
    if rows and cols:
        strides, block = (input.stride(0), residual.stride(0)), triton.next_power_of_2(cols)
        norm_kernel[(rows,)](input, residual, weight, epsilon, cols, *strides, COLS=block)
        add_kernel[(rows,)](input, residual, cols, *strides, COLS=block)
