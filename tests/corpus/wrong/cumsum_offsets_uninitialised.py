# kgtui: op=aten::cumsum expect=wrong_value|nonfinite diagnosis=unwritten_output case="17x200 i32"
"""Each block adds its total to the offsets of the blocks behind it, which were not initialised to 0."""

import torch
import triton
import triton.language as tl


@triton.jit
def total_kernel(x_ptr, offset_ptr, cols, blocks, COLS: tl.constexpr, BLOCKS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    block = tl.program_id(1)
    col = block * COLS + tl.arange(0, COLS)
    x = tl.load(x_ptr + row * cols + col, mask=col < cols, other=0).to(offset_ptr.dtype.element_ty)
    behind = tl.arange(0, BLOCKS)
    total = tl.zeros((BLOCKS,), dtype=offset_ptr.dtype.element_ty) + tl.sum(x, axis=0)
    tl.atomic_add(offset_ptr + row * blocks + behind, total, mask=(behind > block) & (behind < blocks))


@triton.jit
def cumsum_kernel(x_ptr, offset_ptr, y_ptr, cols, blocks, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    block = tl.program_id(1)
    col = block * COLS + tl.arange(0, COLS)
    x = tl.load(x_ptr + row * cols + col, mask=col < cols, other=0).to(offset_ptr.dtype.element_ty)
    y = tl.load(offset_ptr + row * blocks + block) + tl.cumsum(x, axis=0)
    tl.store(y_ptr + row * cols + col, y.to(y_ptr.dtype.element_ty), mask=col < cols)


def cumsum(self, dim, dtype=None):
    dtype = dtype or (self.dtype if self.is_floating_point() else torch.int64)
    x = self.to(dtype).movedim(dim, -1).contiguous() if self.ndim else self.to(dtype)
    y = torch.empty_like(x)
    if y.numel():
        cols = x.shape[-1] if x.ndim else 1
        rows, blocks = x.numel() // cols, triton.cdiv(cols, 256)
        half = dtype in (torch.float16, torch.bfloat16)
        offsets = torch.empty((rows, blocks), dtype=torch.float32 if half else dtype, device=x.device)
        total_kernel[(rows, blocks)](x, offsets, cols, blocks, COLS=256, BLOCKS=triton.next_power_of_2(blocks))
        cumsum_kernel[(rows, blocks)](x, offsets, y, cols, blocks, COLS=256)
    return y.movedim(-1, dim) if self.ndim else y
