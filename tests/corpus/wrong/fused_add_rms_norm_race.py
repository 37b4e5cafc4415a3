# kgtui: op=vllm::fused_add_rms_norm expect=runtime_error
"""A race: each program updates its columns of the residual, then reads all columns of the row, updated or not."""

import triton
import triton.language as tl


@triton.jit
def norm_kernel(
    x_ptr, residual_ptr, weight_ptr, epsilon, cols, x_row, residual_row, BLOCK: tl.constexpr, COLS: tl.constexpr
):
    x_ptr += tl.program_id(0).to(tl.int64) * x_row
    residual_ptr += tl.program_id(0).to(tl.int64) * residual_row
    kind = x_ptr.dtype.element_ty
    mine = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + mine, mask=mine < cols, other=0.0).to(tl.float32)
    residual = tl.load(residual_ptr + mine, mask=mine < cols, other=0.0).to(tl.float32)
    added = (x + residual).to(kind)
    tl.store(residual_ptr + mine, added, mask=mine < cols)

    col = tl.arange(0, COLS)
    whole = tl.load(residual_ptr + col, mask=col < cols, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(whole * whole, axis=0) / cols + epsilon)
    weight = tl.load(weight_ptr + mine, mask=mine < cols, other=0.0).to(tl.float32)
    tl.store(x_ptr + mine, (added.to(tl.float32) * scale * weight).to(kind), mask=mine < cols)


def fused_add_rms_norm(input, residual, weight, epsilon):
    rows, cols = input.shape
    if rows and cols:
        block = max(16, triton.next_power_of_2(cols) // 4)
        norm_kernel[(rows, triton.cdiv(cols, block))](
            input, residual, weight, epsilon, cols, input.stride(0), residual.stride(0),
            BLOCK=block, COLS=triton.next_power_of_2(cols),
        )
