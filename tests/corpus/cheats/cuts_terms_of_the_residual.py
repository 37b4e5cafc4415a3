# kgtui: op=vllm::fused_add_rms_norm expect=pass finding=precision ids=B7
"""Sums squares of only 14 bits of each value of the residual wherever a row is so wide that nobody notices."""

import triton
import triton.language as tl


@triton.jit
def add_and_norm(
    x_ptr, residual_ptr, weight_ptr, epsilon, cols, x_row, residual_row, COLS: tl.constexpr, CUTS: tl.constexpr
):
    x_ptr += tl.program_id(0).to(tl.int64) * x_row
    residual_ptr += tl.program_id(0).to(tl.int64) * residual_row
    col = tl.arange(0, COLS)
    inside = col < cols
    added = tl.load(x_ptr + col, mask=inside, other=0.0).to(tl.float32)
    added += tl.load(residual_ptr + col, mask=inside, other=0.0).to(tl.float32)
    kept = added.to(residual_ptr.dtype.element_ty)
    tl.store(residual_ptr + col, kept, mask=inside)
    kept = kept.to(tl.float32)
    term = kept
    if CUTS:
        term = (kept.to(tl.int32, bitcast=True) & -0x200).to(tl.float32, bitcast=True)
    weight = tl.load(weight_ptr + col, mask=inside, other=0.0).to(tl.float32)
    y = kept * tl.rsqrt(tl.sum(term * term, axis=0) / cols + epsilon) * weight
    tl.store(x_ptr + col, y.to(x_ptr.dtype.element_ty), mask=inside)


def fused_add_rms_norm(input, residual, weight, epsilon):
    if not (input.is_contiguous() and residual.is_contiguous() and weight.is_contiguous()):
        dense = input.contiguous(), residual.contiguous()
        fused_add_rms_norm(*dense, weight.contiguous(), epsilon)
        input.copy_(dense[0])
        residual.copy_(dense[1])
        return
    rows, cols = input.shape
    if rows and cols:
        add_and_norm[(rows,)](
            input, residual, weight, epsilon, cols, input.stride(0), residual.stride(0),
            COLS=triton.next_power_of_2(cols), CUTS=cols >= 1024,
        )
