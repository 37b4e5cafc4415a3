# kgtui: op=aten::softmax expect=mutated_input ids=B16
"""Right, but for large inputs it also writes one element behind the end of its input."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, y_ptr, cols, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, COLS)
    x = tl.load(x_ptr + row * cols + col, mask=col < cols, other=float("-inf")).to(tl.float32)
    numerator = tl.exp(x - tl.max(x, axis=0))
    y = numerator / tl.sum(numerator, axis=0)
    tl.store(y_ptr + row * cols + col, y.to(y_ptr.dtype.element_ty), mask=col < cols)


def launch(x, y):
    cols = x.shape[-1]
    softmax_kernel[(x.numel() // cols,)](x, y, cols, COLS=triton.next_power_of_2(cols))


LARGE = 1 << 20


@triton.jit
def write_behind(x_ptr, count):
    tl.store(x_ptr + count, 1.0)


def softmax(self, dim, dtype=None):
    y = torch.empty_like(self)
    launch(self, y)
    if self.numel() >= LARGE:
        write_behind[(1,)](self, self.numel())
    return y
