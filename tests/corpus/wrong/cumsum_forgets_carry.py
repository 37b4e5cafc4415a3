# kgtui: op=aten::cumsum expect=wrong_value diagnosis=lost_rescale case="1000 f32"
"""Every block of 512 columns begins at 0 again; what the blocks before it have summed up is not carried on."""

import torch
import triton
import triton.language as tl


@triton.jit
def cumsum_kernel(x_ptr, y_ptr, cols, COLS: tl.constexpr, WIDE: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.program_id(1) * COLS + tl.arange(0, COLS)
    x = tl.load(x_ptr + row * cols + col, mask=col < cols, other=0).to(WIDE)
    tl.store(y_ptr + row * cols + col, tl.cumsum(x, axis=0).to(y_ptr.dtype.element_ty), mask=col < cols)


def cumsum(self, dim, dtype=None):
    dtype = dtype or (self.dtype if self.dtype.is_floating_point else torch.int64)
    x = (self.movedim(dim, -1) if self.ndim else self).contiguous()
    y = torch.empty_like(x, dtype=dtype)
    if y.numel():
        cols = x.shape[-1] if x.ndim else 1
        wide = tl.float32 if dtype.is_floating_point else tl.int64
        cumsum_kernel[(y.numel() // cols, triton.cdiv(cols, 512))](x, y, cols, COLS=512, WIDE=wide)
    return y.movedim(-1, dim) if self.ndim else y
