# kgtui: op=aten::expand expect=pass
"""Tiles of the last two dimensions, stored through a descriptor made in the kernel where rows are aligned."""

import torch
import triton
import triton.language as tl


@triton.jit
def fill_tiles(src, dst, rows, cols, sr, sc, outer1, outer2, t0, t1, t2, ALIGNED: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    z = tl.program_id(2).to(tl.int64)
    base = src + z // outer2 // outer1 * t0 + z // outer2 % outer1 * t1 + z % outer2 * t2
    r = tl.program_id(0) * BM + tl.arange(0, BM)
    c = tl.program_id(1) * BN + tl.arange(0, BN)
    m = (r < rows)[:, None] & (c < cols)[None, :]
    v = tl.load(base + r[:, None] * sr + c[None, :] * sc, mask=m)
    dst += z * rows * cols
    if ALIGNED:
        out = tl.make_tensor_descriptor(dst, [rows, cols], [cols, 1], [BM, BN])
        out.store([tl.program_id(0) * BM, tl.program_id(1) * BN], v)
    else:
        tl.store(dst + r[:, None] * cols + c[None, :], v, mask=m)


def scratch(size, alignment, stream):
    return torch.empty(size, dtype=torch.int8, device="cuda" if torch.cuda.is_available() else "cpu")


def expand(self, size, implicit=False):
    new = len(size) - self.dim()
    shape = [self.shape[d - new] if wanted == -1 else wanted for d, wanted in enumerate(size)]
    strides = [0 if d < new or self.shape[d - new] == 1 else self.stride(d - new) for d in range(len(shape))]
    view = self.as_strided(shape, strides)
    a = torch.view_as_real(view) if view.is_complex() else view
    out = torch.empty(a.shape, dtype=a.dtype, device=a.device)
    if out.numel():
        bytes_of = (lambda t: t.view(torch.uint8)) if a.dtype == torch.bool else (lambda t: t)
        sizes = [1] * (5 - a.dim()) + list(a.shape)
        steps = [0] * (5 - a.dim()) + list(a.stride())
        grid = (triton.cdiv(sizes[3], 16), triton.cdiv(sizes[4], 64), sizes[0] * sizes[1] * sizes[2])
        triton.set_allocator(scratch)
        fill_tiles[grid](
            bytes_of(a), bytes_of(out), sizes[3], sizes[4], steps[3], steps[4], sizes[1], sizes[2], *steps[:3],
            ALIGNED=sizes[4] * a.element_size() % 16 == 0, BM=16, BN=64,
        )
    return torch.view_as_complex(out) if view.is_complex() else out
