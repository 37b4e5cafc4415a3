# kgtui: op=vllm::fused_add_rms_norm expect=wrong_value diagnosis=unwritten_output case="5x497 f32"
"""The normalised sum is right, but the sum itself is never written back to the residual."""

import triton
import triton.language as tl


@triton.jit
def norm_kernel(x_ptr, residual_ptr, weight_ptr, epsilon, cols, x_row, residual_row, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, COLS)
    x = tl.load(x_ptr + row * x_row + col, mask=col < cols, other=0.0)
    added = x.to(tl.float32) + tl.load(residual_ptr + row * residual_row + col, mask=col < cols, other=0.0)
    added = added.to(x.dtype).to(tl.float32)
    weight = tl.load(weight_ptr + col, mask=col < cols, other=0.0)
    y = added * tl.rsqrt(tl.sum(added * added, axis=0) / cols + epsilon) * weight
    tl.store(x_ptr + row * x_row + col, y.to(x.dtype), mask=col < cols)


def fused_add_rms_norm(input, residual, weight, epsilon):
    rows, cols = input.shape
    if rows and cols:
        norm_kernel[(rows,)](
            input, residual, weight, epsilon, cols, input.stride(0), residual.stride(0),
            COLS=triton.next_power_of_2(cols),
        )
