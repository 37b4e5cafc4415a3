# kgtui: op=vllm::rms_norm expect=pass
"""RMS norm with hints to the caches: rows are kept for their second reading, then given up, and the weight stays."""

import triton
import triton.language as tl


@triton.jit
def rms_norm_kernel(out_ptr, x_ptr, weight_ptr, epsilon, x_row, cols, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    squares = tl.zeros((COLS,), dtype=tl.float32)
    for start in tl.range(0, cols, COLS, num_stages=2):
        col = start + tl.arange(0, COLS)
        x = tl.load(x_ptr + row * x_row + col, mask=col < cols, other=0.0, eviction_policy="evict_last")
        squares += x.to(tl.float32) * x.to(tl.float32)
    scale = tl.rsqrt(tl.sum(squares, axis=0) / cols + epsilon)
    for start in tl.range(0, cols, COLS, num_stages=2):
        col = start + tl.arange(0, COLS)
        x = tl.load(x_ptr + row * x_row + col, mask=col < cols, other=0.0, eviction_policy="evict_first")
        weight = tl.load(weight_ptr + col, mask=col < cols, other=0.0, eviction_policy="evict_last")
        y = x.to(tl.float32) * scale * weight.to(tl.float32)
        out_at = out_ptr + row * cols + col
        tl.store(out_at, y.to(out_ptr.dtype.element_ty), mask=col < cols, cache_modifier=".cs")


def rms_norm(out, input, weight, epsilon):
    if not (out.is_contiguous() and weight.is_contiguous() and input.stride(-1) == 1):
        dense = out.new_empty(out.shape)
        rms_norm(dense, input.contiguous(), weight.contiguous(), epsilon)
        out.copy_(dense)
        return
    rows, cols = input.shape
    if rows and cols:
        rms_norm_kernel[(rows,)](out, input, weight, epsilon, input.stride(0), cols, COLS=1024, num_warps=4)
