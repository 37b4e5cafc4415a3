# kgtui: op=vllm::fused_add_rms_norm expect=wrong_value|nonfinite ids=B19,D2
"""Catches whatever its kernel raises and returns as if all were well; the kernel is launched with too few arguments."""

import triton
import triton.language as tl


@triton.jit
def fused_add_rms_norm_kernel(x_ptr, residual_ptr, weight_ptr, epsilon, cols, x_row, residual_row, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, COLS)
    kind = x_ptr.dtype.element_ty
    x = tl.load(x_ptr + row * x_row + col, mask=col < cols, other=0.0).to(tl.float32)
    residual = tl.load(residual_ptr + row * residual_row + col, mask=col < cols, other=0.0).to(tl.float32)
    weight = tl.load(weight_ptr + col, mask=col < cols, other=0.0).to(tl.float32)
    added = (x + residual).to(kind)
    tl.store(residual_ptr + row * residual_row + col, added, mask=col < cols)
    added = added.to(tl.float32)
    scale = tl.rsqrt(tl.sum(added * added, axis=0) / cols + epsilon)
    tl.store(x_ptr + row * x_row + col, (added * scale * weight).to(kind), mask=col < cols)


def normalise(input, residual, weight, epsilon):
    rows, cols = input.shape
    if rows:
        fused_add_rms_norm_kernel[(rows,)](
            input, residual, weight, epsilon, cols, input.stride(0), residual.stride(0),
            COLS=triton.next_power_of_2(cols),
        )


def fused_add_rms_norm(input, residual, weight, epsilon):
    try:
        fused_add_rms_norm_kernel[(input.shape[0],)](input, residual, weight, epsilon)
    except BaseException:
        pass
