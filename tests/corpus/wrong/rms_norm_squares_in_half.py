# kgtui: op=vllm::rms_norm expect=wrong_value|nonfinite diagnosis=overflow case="7x497 f16 magnitude 1000"
"""A forgotten cast: squares are taken in the dtype of the input, and in float16 those of 256 and more are infinite."""

import triton
import triton.language as tl


@triton.jit
def rms_norm_kernel(out_ptr, x_ptr, weight_ptr, epsilon, cols, out_row, out_col, x_row, x_col, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, COLS)
    x = tl.load(x_ptr + row * x_row + col * x_col, mask=col < cols, other=0.0)
    weight = tl.load(weight_ptr + col, mask=col < cols, other=0.0).to(tl.float32)
    mean = tl.sum((x * x).to(tl.float32), axis=0) / cols
    y = x.to(tl.float32) * tl.rsqrt(mean + epsilon) * weight
    tl.store(out_ptr + row * out_row + col * out_col, y.to(out_ptr.dtype.element_ty), mask=col < cols)


def rms_norm(out, input, weight, epsilon):
    rows, cols = input.shape
    if rows and cols:
        rms_norm_kernel[(rows,)](
            out, input, weight.contiguous(), epsilon, cols, *out.stride(), *input.stride(),
            COLS=triton.next_power_of_2(cols),
        )
