# kgtui: op=vllm::rms_norm expect=wrong_value diagnosis=missing_scale case="5x497 f32"
"""The sum of squares is divided by the padded block width instead of the number of columns."""

import triton
import triton.language as tl


@triton.jit
def rms_norm_kernel(out_ptr, x_ptr, weight_ptr, epsilon, cols, out_row, out_col, x_row, x_col, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, COLS)
    x = tl.load(x_ptr + row * x_row + col * x_col, mask=col < cols, other=0.0).to(tl.float32)
    weight = tl.load(weight_ptr + col, mask=col < cols, other=0.0).to(tl.float32)
    y = x * tl.rsqrt(tl.sum(x * x, axis=0) / COLS + epsilon) * weight
    tl.store(out_ptr + row * out_row + col * out_col, y.to(out_ptr.dtype.element_ty), mask=col < cols)


def rms_norm(out, input, weight, epsilon):
    rows, cols = input.shape
    if rows and cols:
        rms_norm_kernel[(rows,)](
            out, input, weight.contiguous(), epsilon, cols, *out.stride(), *input.stride(),
            COLS=triton.next_power_of_2(cols),
        )
