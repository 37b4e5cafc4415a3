# kgtui: op=aten::cumsum expect=pass
"""Running sum in three launches: each block's own, the running sum of the blocks' totals, and the two added."""

import torch
import triton
import triton.language as tl

BLOCK = 1024


@triton.jit
def scan_blocks(x_ptr, y_ptr, total_ptr, cols, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.program_id(1) * COLS + tl.arange(0, COLS)
    x = tl.load(x_ptr + row * cols + col, mask=col < cols, other=0).to(y_ptr.dtype.element_ty)
    tl.store(y_ptr + row * cols + col, tl.cumsum(x, axis=0), mask=col < cols)
    tl.store(total_ptr + row * tl.num_programs(1) + tl.program_id(1), tl.sum(x, axis=0))


@triton.jit
def scan_totals(total_ptr, before_ptr, blocks, BLOCKS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    block = tl.arange(0, BLOCKS)
    total = tl.load(total_ptr + row * blocks + block, mask=block < blocks, other=0)
    tl.store(before_ptr + row * blocks + block + 1, tl.cumsum(total, axis=0), mask=block < blocks - 1)


@triton.jit
def add_before(scan_ptr, before_ptr, y_ptr, cols, COLS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    col = tl.program_id(1) * COLS + tl.arange(0, COLS)
    before = tl.load(before_ptr + row * tl.num_programs(1) + tl.program_id(1))
    y = tl.load(scan_ptr + row * cols + col, mask=col < cols, other=0) + before
    tl.store(y_ptr + row * cols + col, y.to(y_ptr.dtype.element_ty), mask=col < cols)


def cumsum(self, dim, dtype=None):
    dtype = dtype or (self.dtype if self.is_floating_point() else torch.int64)
    x = self.movedim(dim, -1).contiguous()
    y = torch.empty(x.shape, dtype=dtype, device=x.device)
    if y.numel() == 0:
        return y.movedim(-1, dim)
    wide = torch.float32 if dtype.is_floating_point else torch.int64
    cols = x.shape[-1]
    rows, blocks = x.numel() // cols, triton.cdiv(cols, BLOCK)
    scan = torch.empty(x.shape, dtype=wide, device=x.device)
    total = torch.empty((rows, blocks), dtype=wide, device=x.device)
    before = torch.zeros_like(total)
    scan_blocks[(rows, blocks)](x, scan, total, cols, COLS=BLOCK, num_warps=4)
    scan_totals[(rows,)](total, before, blocks, BLOCKS=triton.next_power_of_2(blocks), num_warps=4)
    add_before[(rows, blocks)](scan, before, y, cols, COLS=BLOCK, num_warps=4)
    return y.movedim(-1, dim)
