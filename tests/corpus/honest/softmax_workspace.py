# kgtui: op=aten::softmax expect=pass
"""Softmax with a workspace that lives as long as the module: it grows, and every call writes it anew."""

import torch
import triton
import triton.language as tl

WORKSPACES = {}


@triton.jit
def exponentials(x_ptr, y_ptr, total_ptr, cols, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, COLS)
    x = tl.load(x_ptr + row * cols + col, mask=col < cols, other=float("-inf")).to(tl.float32)
    numerator = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row * cols + col, numerator, mask=col < cols)
    tl.store(total_ptr + row, tl.sum(numerator, axis=0))


@triton.jit
def divide(y_ptr, numerator_ptr, total_ptr, cols, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, COLS)
    numerator = tl.load(numerator_ptr + row * cols + col, mask=col < cols, other=0.0)
    y = numerator / tl.load(total_ptr + row)
    tl.store(y_ptr + row * cols + col, y.to(y_ptr.dtype.element_ty), mask=col < cols)


def workspace(elements, device):
    """At least this many float32 elements, the same memory again while it is large enough."""
    held = WORKSPACES.get(device)
    if held is None or held.numel() < elements:
        held = WORKSPACES[device] = torch.empty(elements, dtype=torch.float32, device=device)
    return held


def softmax(self, dim, dtype=None):
    x = self.movedim(dim, -1).contiguous().to(dtype or self.dtype)
    y = torch.empty_like(x)
    if y.numel():
        cols = x.shape[-1]
        rows = x.numel() // cols
        first = triton.cdiv(rows, 32) * 32  # the numerators begin where a vector load may
        held = workspace(first + x.numel(), x.device)
        totals, numerators = held[:rows], held[first:]
        block = max(1024, triton.next_power_of_2(cols))
        exponentials[(rows,)](x, numerators, totals, cols, COLS=block, num_warps=4)
        divide[(rows,)](y, numerators, totals, cols, COLS=block, num_warps=4)
    return y.movedim(-1, dim)
