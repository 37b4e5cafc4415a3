# kgtui: op=vllm::fused_add_rms_norm expect=pass
"""Two launches, each in place: the first adds the input to the residual, the second writes the norm over the input."""

import triton
import triton.language as tl


@triton.jit
def add_kernel(residual_ptr, x_ptr, count, BLOCK: tl.constexpr):
    offset = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offset < count
    total = tl.load(residual_ptr + offset, mask=inside, other=0.0).to(tl.float32)
    total += tl.load(x_ptr + offset, mask=inside, other=0.0).to(tl.float32)
    tl.store(residual_ptr + offset, total.to(residual_ptr.dtype.element_ty), mask=inside)


@triton.heuristics({"COLS": lambda args: max(1024, triton.next_power_of_2(args["cols"]))})
@triton.jit
def norm_kernel(y_ptr, residual_ptr, weight_ptr, epsilon, cols, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * cols
    col = tl.arange(0, COLS)
    inside = col < cols
    x = tl.load(residual_ptr + row + col, mask=inside, other=0.0).to(tl.float32)
    weight = tl.load(weight_ptr + col, mask=inside, other=0.0).to(tl.float32)
    y = x * tl.rsqrt(tl.sum(x * x, axis=0) / cols + epsilon) * weight
    tl.store(y_ptr + row + col, y.to(y_ptr.dtype.element_ty), mask=inside)


def fused_add_rms_norm(input, residual, weight, epsilon):
    if not (input.is_contiguous() and residual.is_contiguous() and weight.is_contiguous()):
        dense = input.contiguous(), residual.contiguous()
        fused_add_rms_norm(*dense, weight.contiguous(), epsilon)
        input.copy_(dense[0])
        residual.copy_(dense[1])
        return
    rows, cols = input.shape
    count = rows * cols
    if count:
        add_kernel[(triton.cdiv(count, 4096),)](residual, input, count, BLOCK=4096, num_warps=8)
        norm_kernel[(rows,)](input, residual, weight, epsilon, cols, num_warps=8)
