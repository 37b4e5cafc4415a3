# kgtui: op=vllm::rms_norm expect=pass
"""RMS norm by a persistent kernel whose programs keep the weight in registers while they walk over the rows."""

import torch
import triton
import triton.language as tl


@triton.jit
def rms_norm_kernel(out_ptr, x_ptr, weight_ptr, epsilon, rows, cols, x_row, COLS: tl.constexpr):
    col = tl.arange(0, COLS)
    weight = tl.load(weight_ptr + col, mask=col < cols, other=0.0).to(tl.float32)
    for row in range(tl.program_id(0).to(tl.int64), rows, tl.num_programs(0)):
        x = tl.load(x_ptr + row * x_row + col, mask=col < cols, other=0.0).to(tl.float32)
        y = x * tl.rsqrt(tl.sum(x * x, axis=0) / cols + epsilon) * weight
        tl.store(out_ptr + row * cols + col, y.to(out_ptr.dtype.element_ty), mask=col < cols)


def programs(device, rows):
    """Two for each multiprocessor, and no more than there are rows."""
    try:
        count = 2 * torch.cuda.get_device_properties(device).multi_processor_count
    except (AssertionError, RuntimeError, ValueError):
        count = 4
    return min(count, rows)


def rms_norm(out, input, weight, epsilon):
    if not (out.is_contiguous() and weight.is_contiguous() and input.stride(-1) == 1):
        dense = out.new_empty(out.shape)
        rms_norm(dense, input.contiguous(), weight.contiguous(), epsilon)
        out.copy_(dense)
        return
    rows, cols = input.shape
    if rows and cols:
        block = 2048 if cols <= 2048 else triton.next_power_of_2(cols)
        rms_norm_kernel[(programs(input.device, rows),)](
            out, input, weight, epsilon, rows, cols, input.stride(0), COLS=block, num_warps=4 if block == 2048 else 16,
        )
