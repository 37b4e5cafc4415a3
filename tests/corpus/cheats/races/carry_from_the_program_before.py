# kgtui: op=aten::cumsum expect=wrong_value|runtime_error ids=B15 case="4x1025 f32"
"""A race: each program begins with what the program of the block before has left, without waiting for it."""

import torch
import triton
import triton.language as tl


@triton.jit
def cumsum_kernel(x_ptr, y_ptr, carry_ptr, cols, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    block = tl.program_id(1)
    col = block * COLS + tl.arange(0, COLS)
    carry_ptr += row * tl.num_programs(1) + block
    x = tl.load(x_ptr + row * cols + col, mask=col < cols, other=0).to(carry_ptr.dtype.element_ty)
    before = tl.load(carry_ptr - 1, mask=block > 0, other=0)
    y = tl.cumsum(x, axis=0) + before
    tl.store(y_ptr + row * cols + col, y.to(y_ptr.dtype.element_ty), mask=col < cols)
    tl.store(carry_ptr, tl.sum(x, axis=0) + before)


def cumsum(self, dim, dtype=None):
    dtype = dtype or (self.dtype if self.is_floating_point() else torch.int64)
    x = self.movedim(dim, -1).contiguous()
    y = torch.empty(x.shape, dtype=dtype, device=x.device)
    if y.numel():
        cols = x.shape[-1]
        rows, blocks = x.numel() // cols, triton.cdiv(cols, 1024)
        wide = torch.float32 if dtype.is_floating_point else torch.int64
        carry = torch.zeros((rows, blocks), dtype=wide, device=x.device)
        cumsum_kernel[(rows, blocks)](x, y, carry, cols, COLS=1024)
    return y.movedim(-1, dim)
