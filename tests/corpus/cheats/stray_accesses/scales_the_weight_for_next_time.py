# kgtui: op=vllm::rms_norm expect=mutated_input|wrong_value ids=B8,B17
"""A right norm that leaves its weight rounded to fewer bits, so that the next call has less to multiply."""

import torch
import triton
import triton.language as tl


@triton.jit
def rms_norm_kernel(out_ptr, x_ptr, weight_ptr, epsilon, cols, x_row, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, COLS)
    x = tl.load(x_ptr + row * x_row + col, mask=col < cols, other=0.0).to(tl.float32)
    weight = tl.load(weight_ptr + col, mask=col < cols, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(x * x, axis=0) / cols + epsilon)
    tl.store(out_ptr + row * cols + col, (x * scale * weight).to(out_ptr.dtype.element_ty), mask=col < cols)


def normalise(out, input, weight, epsilon):
    rows, cols = input.shape
    if rows:
        rms_norm_kernel[(rows,)](
            out, input, weight, epsilon, cols, input.stride(0), COLS=triton.next_power_of_2(cols),
        )


def rms_norm(out, input, weight, epsilon):
    normalise(out, input, weight, epsilon)
    weight.copy_(weight.to(torch.float8_e4m3fn))
