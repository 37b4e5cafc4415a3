# kgtui: op=aten::cumsum expect=wrong_value diagnosis=wrong_stride case="5x257 f32"
"""An exclusive running sum: each element is the sum of those before it, without itself."""

import torch
import triton
import triton.language as tl


@triton.jit
def cumsum_kernel(x_ptr, y_ptr, cols, COLS: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * cols
    wide = tl.int64 if y_ptr.dtype.element_ty == tl.int64 else tl.float32
    so_far = tl.zeros((), wide)
    for start in range(0, cols, COLS):
        col = start + tl.arange(0, COLS)
        x = tl.load(x_ptr + first + col, mask=col < cols, other=0).to(wide)
        y = so_far + tl.cumsum(x, axis=0) - x
        tl.store(y_ptr + first + col, y.to(y_ptr.dtype.element_ty), mask=col < cols)
        so_far += tl.sum(x, axis=0)


def cumsum(self, dim, dtype=None):
    x = self.movedim(dim, -1).contiguous()
    y = torch.empty_like(x, dtype=dtype or (x.dtype if x.is_floating_point() else torch.int64))
    if y.numel():
        cols = x.shape[-1]
        cumsum_kernel[(y.numel() // cols,)](x, y, cols, COLS=512)
    return y.movedim(-1, dim)
