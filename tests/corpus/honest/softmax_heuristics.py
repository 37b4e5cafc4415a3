# kgtui: op=aten::softmax expect=pass
"""Softmax whose block, warps and tail handling are chosen by @triton.heuristics, one contiguous row per program."""

import torch
import triton
import triton.language as tl


@triton.heuristics(
    {
        "COLS": lambda args: min(triton.next_power_of_2(args["cols"]), 8192),
        "num_warps": lambda args: 4 if args["cols"] <= 2048 else 8,
    }
)
@triton.heuristics({"ONE_BLOCK": lambda args: args["cols"] <= args["COLS"]})
@triton.jit
def softmax_kernel(x_ptr, y_ptr, cols, COLS: tl.constexpr, ONE_BLOCK: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * cols
    col = tl.arange(0, COLS)
    if ONE_BLOCK:
        x = tl.load(x_ptr + first + col, mask=col < cols, other=float("-inf")).to(tl.float32)
        numerator = tl.exp(x - tl.max(x, axis=0))
        y = numerator / tl.sum(numerator, axis=0)
        tl.store(y_ptr + first + col, y.to(y_ptr.dtype.element_ty), mask=col < cols)
    else:
        highest = tl.full((COLS,), float("-inf"), dtype=tl.float32)
        for start in range(0, cols, COLS):
            x = tl.load(x_ptr + first + start + col, mask=start + col < cols, other=float("-inf"))
            highest = tl.maximum(highest, x.to(tl.float32))
        top = tl.max(highest, axis=0)
        total = tl.zeros((COLS,), dtype=tl.float32)
        for start in range(0, cols, COLS):
            x = tl.load(x_ptr + first + start + col, mask=start + col < cols, other=float("-inf"))
            total += tl.exp(x.to(tl.float32) - top)
        scale = 1.0 / tl.sum(total, axis=0)
        for start in range(0, cols, COLS):
            x = tl.load(x_ptr + first + start + col, mask=start + col < cols, other=float("-inf"))
            y = tl.exp(x.to(tl.float32) - top) * scale
            tl.store(y_ptr + first + start + col, y.to(y_ptr.dtype.element_ty), mask=start + col < cols)


def softmax(self, dim, dtype=None):
    x = self.to(dtype or self.dtype).movedim(dim, -1) if self.ndim else self.to(dtype or self.dtype)
    x = x.contiguous()
    y = torch.empty_like(x)
    if y.numel():
        cols = x.shape[-1] if x.ndim else 1
        softmax_kernel[(y.numel() // cols,)](x, y, cols)
    return y.movedim(-1, dim) if self.ndim else y
