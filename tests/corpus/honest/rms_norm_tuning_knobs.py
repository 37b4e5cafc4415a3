# kgtui: op=vllm::rms_norm expect=pass
"""RMS norm with its block and warps from the environment, checked and with defaults, and a message on demand."""

import os
import sys

import triton
import triton.language as tl


def knob(name, default, allowed):
    """A whole number of the environment, or the default where there is none that makes sense."""
    try:
        value = int(os.environ[name])
    except (KeyError, ValueError):
        return default
    return value if value in allowed else default


COLUMNS = knob("RMS_NORM_COLUMNS", 1024, (512, 1024, 2048, 4096))
WARPS = knob("RMS_NORM_WARPS", 4, (1, 2, 4, 8))
VERBOSE = os.getenv("RMS_NORM_VERBOSE", "") == "1"


@triton.jit
def rms_norm_kernel(out_ptr, x_ptr, weight_ptr, epsilon, x_row, cols, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    squares = tl.zeros((COLS,), dtype=tl.float32)
    for start in range(0, cols, COLS):
        col = start + tl.arange(0, COLS)
        x = tl.load(x_ptr + row * x_row + col, mask=col < cols, other=0.0).to(tl.float32)
        squares += x * x
    scale = tl.rsqrt(tl.sum(squares, axis=0) / cols + epsilon)
    for start in range(0, cols, COLS):
        col = start + tl.arange(0, COLS)
        x = tl.load(x_ptr + row * x_row + col, mask=col < cols, other=0.0).to(tl.float32)
        weight = tl.load(weight_ptr + col, mask=col < cols, other=0.0).to(tl.float32)
        tl.store(out_ptr + row * cols + col, (x * scale * weight).to(out_ptr.dtype.element_ty), mask=col < cols)


def rms_norm(out, input, weight, epsilon):
    if not (out.is_contiguous() and weight.is_contiguous() and input.stride(-1) == 1):
        dense = out.new_empty(out.shape)
        rms_norm(dense, input.contiguous(), weight.contiguous(), epsilon)
        out.copy_(dense)
        return
    rows, cols = input.shape
    if VERBOSE:
        print(f"rms_norm {rows}x{cols} by {COLUMNS} columns and {WARPS} warps", file=sys.stderr)
    if rows and cols:
        rms_norm_kernel[(rows,)](
            out, input, weight, epsilon, input.stride(0), cols, COLS=COLUMNS, num_warps=WARPS,
        )
