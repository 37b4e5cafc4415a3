# kgtui: op=vllm::rms_norm expect=pass
"""RMS norm into a float32 buffer that is the same in every call of a shape; torch casts it into the caller's `out`."""

import torch
import triton
import triton.language as tl

STAGED = {}


@triton.jit
def rms_norm_kernel(y_ptr, x_ptr, weight_ptr, epsilon, cols, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    squares = tl.zeros((COLS,), dtype=tl.float32)
    for start in range(0, cols, COLS):
        col = start + tl.arange(0, COLS)
        x = tl.load(x_ptr + row * cols + col, mask=col < cols, other=0.0).to(tl.float32)
        squares += x * x
    scale = tl.rsqrt(tl.sum(squares, axis=0) / cols + epsilon)
    for start in range(0, cols, COLS):
        col = start + tl.arange(0, COLS)
        x = tl.load(x_ptr + row * cols + col, mask=col < cols, other=0.0).to(tl.float32)
        weight = tl.load(weight_ptr + col, mask=col < cols, other=0.0).to(tl.float32)
        tl.store(y_ptr + row * cols + col, x * scale * weight, mask=col < cols)


def staged(shape, device):
    """The buffer for this shape; each call overwrites all of it."""
    key = (tuple(shape), device)
    if key not in STAGED:
        STAGED[key] = torch.empty(shape, dtype=torch.float32, device=device)
    return STAGED[key]


def rms_norm(out, input, weight, epsilon):
    rows, cols = input.shape
    if rows and cols:
        y = staged(input.shape, input.device)
        rms_norm_kernel[(rows,)](
            y, input.contiguous(), weight.contiguous(), epsilon, cols, COLS=1024, num_warps=4,
        )
        out.copy_(y)
