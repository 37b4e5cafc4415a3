# kgtui: op=aten::sum expect=wrong_value diagnosis=tail_mask case="2x40001 dims -1 f32 heavy ends"
"""A long row is shared out by a division that rounds down: a few elements at its end belong to no part."""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def part_kernel(x_ptr, part_ptr, cols, share, TOTAL: tl.constexpr, BLOCK: tl.constexpr):
    row, part = tl.program_id(0).to(tl.int64), tl.program_id(1)
    offset = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=TOTAL)
    for start in range(0, share, BLOCK):
        col = part * share + start + offset
        inside = (start + offset < share) & (col < cols)
        total += tl.load(x_ptr + row * cols + col, mask=inside, other=0).to(TOTAL)
    tl.store(part_ptr + row * tl.num_programs(1) + part, tl.sum(total, axis=0))


@triton.jit
def total_kernel(part_ptr, y_ptr, parts, PARTS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    part = tl.arange(0, PARTS)
    values = tl.load(part_ptr + row * parts + part, mask=part < parts, other=0)
    tl.store(y_ptr + row, tl.sum(values, axis=0).to(y_ptr.dtype.element_ty))


def sum(self, dim=None, keepdim=False, dtype=None):
    if dim is None or dim == []:
        dims = list(range(self.dim()))
    else:
        dims = sorted(one % self.dim() for one in ([dim] if isinstance(dim, int) else dim))
    kept = [one for one in range(self.dim()) if one not in dims]
    shape = [1 if one in dims else size for one, size in enumerate(self.shape) if keepdim or one in kept]
    is_float = self.dtype.is_floating_point
    y = torch.empty(shape, dtype=dtype or (self.dtype if is_float else torch.int64), device=self.device)
    if not y.numel():
        return y
    x = self.permute(*kept, *dims).contiguous()
    cols = math.prod(self.shape[one] for one in dims)
    parts = max(1, cols // 4096)
    wide, total = (torch.float32, tl.float32) if is_float else (torch.int64, tl.int64)
    shares = torch.empty((y.numel(), parts), dtype=wide, device=self.device)
    part_kernel[(y.numel(), parts)](x, shares, cols, cols // parts, TOTAL=total, BLOCK=1024)
    total_kernel[(y.numel(),)](shares, y, parts, PARTS=triton.next_power_of_2(parts))
    return y
