# kgtui: op=aten::softmax expect=wrong_value|pass finding=other_streams ids=A1
"""Works on a stream of its own that nobody waits for: what the caller's stream reads next was not computed yet."""

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


STREAMS = []


def softmax(self, dim, dtype=None):
    if not STREAMS:
        STREAMS.append(torch.cuda.Stream())
    y = torch.empty_like(self)
    with torch.cuda.stream(STREAMS[0]):
        launch(self, y)
    return y
