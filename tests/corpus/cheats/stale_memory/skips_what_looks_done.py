# kgtui: op=vllm::rms_norm expect=wrong_value|nonfinite ids=A21,B1
"""Writes nothing where `out` holds finite numbers already: somebody has been here before."""

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
    if not bool(out.isfinite().all()):
        normalise(out, input, weight, epsilon)
