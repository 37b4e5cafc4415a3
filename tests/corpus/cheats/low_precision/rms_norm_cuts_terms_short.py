# kgtui: op=vllm::rms_norm expect=pass finding=precision ids=B7 case="2x8192 f32"
"""Squares only 14 bits of each value wherever a row is so wide that the tolerance does not notice."""

import triton
import triton.language as tl


@triton.jit
def rms_norm_kernel(
    out_ptr, x_ptr, weight_ptr, epsilon, cols, out_row, x_row, COLS: tl.constexpr, CUTS: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, COLS)
    inside = col < cols
    x = tl.load(x_ptr + row * x_row + col, mask=inside, other=0.0).to(tl.float32)
    weight = tl.load(weight_ptr + col, mask=inside, other=0.0).to(tl.float32)
    term = x
    if CUTS:
        term = (x.to(tl.int32, bitcast=True) & -0x200).to(tl.float32, bitcast=True)
    y = x * tl.rsqrt(tl.sum(term * term, axis=0) / cols + epsilon) * weight
    tl.store(out_ptr + row * out_row + col, y.to(out_ptr.dtype.element_ty), mask=inside)


def rms_norm(out, input, weight, epsilon):
    if not (out.is_contiguous() and weight.is_contiguous() and input.stride(-1) == 1):
        dense = out.new_empty(out.shape)
        rms_norm(dense, input.contiguous(), weight.contiguous(), epsilon)
        out.copy_(dense)
        return
    rows, cols = input.shape
    if rows and cols:
        rms_norm_kernel[(rows,)](
            out, input, weight, epsilon, cols, out.stride(0), input.stride(0),
            COLS=triton.next_power_of_2(cols), CUTS=cols >= 1024, num_warps=8,
        )
