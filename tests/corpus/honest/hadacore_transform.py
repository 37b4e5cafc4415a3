# kgtui: op=vllm::hadacore_transform expect=pass
"""Hadamard transform by butterflies on a row in registers: each step adds and subtracts halves of ever smaller parts."""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def hadamard_kernel(x_ptr, out_ptr, scale, x_row, x_col, out_row, out_col, COLS: tl.constexpr, STEPS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, COLS).to(tl.int64)
    x = tl.load(x_ptr + row * x_row + col * x_col).to(tl.float32)
    for step in tl.static_range(STEPS):
        pairs = tl.reshape(x, [COLS >> (step + 1), 2, 1 << step])
        pairs = tl.permute(pairs, (0, 2, 1))
        first, second = tl.split(pairs)
        pairs = tl.join(first + second, first - second)
        x = tl.reshape(tl.permute(pairs, (0, 2, 1)), [COLS])
    tl.store(out_ptr + row * out_row + col * out_col, (x * scale).to(out_ptr.dtype.element_ty))


def hadacore_transform(x, inplace=True):
    rows, cols = x.shape
    out = x if inplace else torch.empty((rows, cols), dtype=x.dtype, device=x.device)
    if x.numel():
        hadamard_kernel[(rows,)](
            x, out, 1 / math.sqrt(cols), *x.stride(), *out.stride(), COLS=cols, STEPS=cols.bit_length() - 1,
            num_warps=4 if cols <= 2048 else 8,
        )
    return out
