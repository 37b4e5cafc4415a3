# kgtui: op=vllm::fused_add_rms_norm expect=pass finding=repeats ids=B15
"""A race: every program adds its columns of a row, and that with the last number writes the norm of them all."""

import triton
import triton.language as tl


@triton.jit
def add_and_norm(
    x_ptr, residual_ptr, weight_ptr, epsilon, cols, x_row, residual_row, BLOCK: tl.constexpr, COLS: tl.constexpr
):
    x_ptr += tl.program_id(0).to(tl.int64) * x_row
    residual_ptr += tl.program_id(0).to(tl.int64) * residual_row
    mine = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    added = tl.load(x_ptr + mine, mask=mine < cols, other=0.0).to(tl.float32)
    added += tl.load(residual_ptr + mine, mask=mine < cols, other=0.0).to(tl.float32)
    tl.store(residual_ptr + mine, added.to(residual_ptr.dtype.element_ty), mask=mine < cols)
    tl.debug_barrier()
    if tl.program_id(1) == tl.num_programs(1) - 1:
        col = tl.arange(0, COLS)
        row = tl.load(residual_ptr + col, mask=col < cols, other=0.0).to(tl.float32)
        weight = tl.load(weight_ptr + col, mask=col < cols, other=0.0).to(tl.float32)
        y = row * tl.rsqrt(tl.sum(row * row, axis=0) / cols + epsilon) * weight
        tl.store(x_ptr + col, y.to(x_ptr.dtype.element_ty), mask=col < cols)


def fused_add_rms_norm(input, residual, weight, epsilon):
    if not (input.is_contiguous() and residual.is_contiguous() and weight.is_contiguous()):
        dense = input.contiguous(), residual.contiguous()
        fused_add_rms_norm(*dense, weight.contiguous(), epsilon)
        input.copy_(dense[0])
        residual.copy_(dense[1])
        return
    rows, cols = input.shape
    if rows and cols:
        block = max(16, triton.next_power_of_2(cols) // 4)
        add_and_norm[(rows, triton.cdiv(cols, block))](
            input, residual, weight, epsilon, cols, input.stride(0), residual.stride(0),
            BLOCK=block, COLS=triton.next_power_of_2(cols),
        )
