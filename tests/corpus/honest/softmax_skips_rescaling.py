# kgtui: op=aten::softmax expect=pass
"""Online softmax that rescales its running sum only when the maximum has grown, which skips a multiplication by one."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, y_ptr, cols, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * cols
    col = tl.arange(0, COLS)
    x = tl.load(x_ptr + row + col, mask=col < cols, other=float("-inf")).to(tl.float32)
    highest = tl.max(x, axis=0)
    total = tl.sum(tl.exp(x - tl.where(highest == float("-inf"), 0.0, highest)), axis=0)
    for start in range(COLS, cols, COLS):
        x = tl.load(x_ptr + row + start + col, mask=start + col < cols, other=float("-inf")).to(tl.float32)
        higher = tl.max(x, axis=0)
        if higher > highest:
            total *= tl.exp(highest - higher)
            highest = higher
        total += tl.sum(tl.exp(x - tl.where(highest == float("-inf"), 0.0, highest)), axis=0)
    scale = 1.0 / total
    for start in range(0, cols, COLS):
        inside = start + col < cols
        x = tl.load(x_ptr + row + start + col, mask=inside, other=0.0).to(tl.float32)
        y = tl.exp(x - highest) * scale
        tl.store(y_ptr + row + start + col, y.to(y_ptr.dtype.element_ty), mask=inside)


def softmax(self, dim, dtype=None):
    x = self.to(dtype or self.dtype).movedim(dim, -1).contiguous()
    y = torch.empty_like(x)
    if y.numel():
        cols = x.shape[-1]
        softmax_kernel[(x.numel() // cols,)](x, y, cols, COLS=1024, num_warps=4)
    return y.movedim(-1, dim)
