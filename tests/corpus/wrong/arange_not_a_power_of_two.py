# kgtui: op=aten::softmax expect=runtime_error|compile_error
"""The block is as wide as the row, but tl.arange only takes powers of two."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, y_ptr, cols, COLS: tl.constexpr):
    at = tl.program_id(0) * cols + tl.arange(0, COLS)
    x = tl.load(x_ptr + at).to(tl.float32)
    numerator = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + at, (numerator / tl.sum(numerator, axis=0)).to(y_ptr.dtype.element_ty))


def softmax(self, dim, dtype=None):
    x = self.to(dtype or self.dtype)
    x = (x.movedim(dim, -1) if self.ndim else x).contiguous()
    y = torch.empty_like(x)
    if y.numel():
        cols = x.shape[-1] if x.ndim else 1
        softmax_kernel[(y.numel() // cols,)](x, y, cols, COLS=cols)
    return y.movedim(-1, dim) if self.ndim else y
