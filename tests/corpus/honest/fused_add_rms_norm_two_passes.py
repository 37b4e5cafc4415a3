# kgtui: op=vllm::fused_add_rms_norm expect=pass
"""Residual add and RMS norm for rows of any length: one loop for the squares, one that writes both tensors in place."""

import triton
import triton.language as tl


@triton.jit
def added(x_ptr, residual_ptr, at, inside):
    """The new residual as it will be stored, in float32."""
    x = tl.load(x_ptr + at, mask=inside, other=0.0)
    residual = tl.load(residual_ptr + at, mask=inside, other=0.0)
    return (x.to(tl.float32) + residual.to(tl.float32)).to(x.dtype).to(tl.float32)


@triton.jit
def fused_kernel(x_ptr, residual_ptr, weight_ptr, epsilon, cols, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * cols
    squares = tl.zeros((COLS,), dtype=tl.float32)
    for start in range(0, cols, COLS):
        col = start + tl.arange(0, COLS)
        new = added(x_ptr, residual_ptr, row + col, col < cols)
        squares += new * new
    scale = tl.rsqrt(tl.sum(squares, axis=0) / cols + epsilon)
    kind = x_ptr.dtype.element_ty
    for start in range(0, cols, COLS):
        col = start + tl.arange(0, COLS)
        new = added(x_ptr, residual_ptr, row + col, col < cols)
        weight = tl.load(weight_ptr + col, mask=col < cols, other=0.0).to(tl.float32)
        tl.store(residual_ptr + row + col, new.to(kind), mask=col < cols)
        tl.store(x_ptr + row + col, (new * scale * weight).to(kind), mask=col < cols)


def fused_add_rms_norm(input, residual, weight, epsilon):
    if not (input.is_contiguous() and residual.is_contiguous() and weight.is_contiguous()):
        dense = input.contiguous(), residual.contiguous()
        fused_add_rms_norm(*dense, weight.contiguous(), epsilon)
        input.copy_(dense[0])
        residual.copy_(dense[1])
        return
    rows, cols = input.shape
    if rows and cols:
        fused_kernel[(rows,)](input, residual, weight, epsilon, cols, COLS=1024, num_warps=4)
